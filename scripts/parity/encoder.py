"""Makes crates/dar/tests/fixtures/<family>: tiny random BERT and RoBERTa encoders with the paper's
head in the hub's format, and what transformers and PyTorch compute with them.

    pip install torch==2.9.0 transformers==4.57.1
    python scripts/parity/encoder.py

expected.json holds, for a few pairs: token ids and types of the pair and of the one string with the
separator, logits, the mean-pooled embedding of the query, and the losses of five AdamW steps
(dropout 0, clipped to a norm of 1, linear decay, two batches averaged a step). The weights are
random; nothing of a published model is in them.
"""

import json
import pathlib

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

FOLDER = pathlib.Path(__file__).parents[2] / "crates/dar/tests/fixtures"
PAIRS = [
    ('{"name": "total", "signature": "def total(items):"}', "RATE = 2", 1),
    ("def price(item):", "def price(item):\n    return item * RATE", 0),
    ("def area(shape): # größe", "class Shape:\n    sides = 4", 1),
    ("f", "x = 1", 0),
    ("def close(self):", "def open(self, path):\n    self.path = path\n" * 6, 1),
    ("def parse(text):", "PATTERN = 'a|b'", 0),
    ("def parse(text):", "def split(text):\n    return text.split(',')", 1),
    ("def area(shape):", "import math", 0),
]
MAX_TOKENS = 48


def tokenizer(family):
    texts = [part for pair in PAIRS for part in pair[:2]]
    if family == "roberta":
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        made = Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet)
        made.train_from_iterator(texts, trainer)
        made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    else:
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special)
        made.train_from_iterator(texts, trainer)
        cls, sep = made.token_to_id("[CLS]"), made.token_to_id("[SEP]")
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", cls), ("[SEP]", sep)],
        )
    # What a published tokenizer.json may come with, and what must not matter.
    made.enable_truncation(16)
    made.enable_padding(length=16)
    return made


class Dar(torch.nn.Module):
    def __init__(self, encoder, hidden):
        super().__init__()
        self.encoder = encoder
        self.classifier = torch.nn.Sequential(
            torch.nn.Linear(hidden, 512), torch.nn.BatchNorm1d(512), torch.nn.ReLU(), torch.nn.Dropout(0.0),
            torch.nn.Linear(512, 256), torch.nn.BatchNorm1d(256), torch.nn.ReLU(), torch.nn.Dropout(0.0),
            torch.nn.Linear(256, 2),
        )

    def forward(self, ids, types, mask):
        output = self.encoder(input_ids=ids, token_type_ids=types, attention_mask=mask)
        return self.classifier(output.pooler_output), output.last_hidden_state


def batch(encodings, pad, types):
    longest = max(len(e.ids) for e in encodings)
    rows = lambda of, fill: torch.tensor([of(e) + [fill] * (longest - len(e.ids)) for e in encodings])
    return (
        rows(lambda e: e.ids, pad),
        rows(lambda e: [min(t, types - 1) for t in e.type_ids], 0),
        rows(lambda e: [1] * len(e.ids), 0),
    )


def make(family):
    torch.manual_seed(7)
    folder = FOLDER / family
    folder.mkdir(parents=True, exist_ok=True)
    tok = tokenizer(family)
    tok.save(str(folder / "tokenizer.json"))
    tok.no_padding()
    tok.enable_truncation(MAX_TOKENS)
    shape = dict(
        vocab_size=tok.get_vocab_size(), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
    if family == "roberta":
        config = RobertaConfig(max_position_embeddings=66, type_vocab_size=1, layer_norm_eps=1e-5, **shape)
        encoder = RobertaModel(config)
        separator = "</s>"
    else:
        config = BertConfig(max_position_embeddings=64, type_vocab_size=2, **shape)
        encoder = BertModel(config)
        separator = "[SEP]"
    # Larger than the initialiser's, so that every part counts.
    for parameter in encoder.parameters():
        parameter.data += torch.randn_like(parameter) * 0.2
    model = Dar(encoder, 16)
    for norm in (model.classifier[1], model.classifier[5]):
        norm.running_mean.data = torch.randn_like(norm.running_mean) * 0.1
        norm.running_var.data = torch.rand_like(norm.running_var) + 0.5
        norm.weight.data = torch.rand_like(norm.weight) + 0.5
        norm.bias.data = torch.randn_like(norm.bias) * 0.1
    # The largest tensor is kept at half precision, which the reader must understand.
    wide = model.classifier[4].weight
    wide.data = wide.data.half().float()
    config.save_pretrained(folder)
    state = {f"{family}.{k}": v.contiguous() for k, v in encoder.state_dict().items()}
    state.update({f"classifier.{k}": v.contiguous() for k, v in model.classifier.state_dict().items()})
    state["classifier.4.weight"] = wide.data.half()
    save_file(state, str(folder / "model.safetensors"))

    pad, types = config.pad_token_id, config.type_vocab_size
    expected = {"max_tokens": MAX_TOKENS, "pairs": []}
    pairs = [tok.encode(q, c) for q, c, _ in PAIRS]
    joined = [tok.encode(q + separator + c) for q, c, _ in PAIRS]
    alone = [tok.encode(q) for q, _, _ in PAIRS]
    model.eval()
    with torch.no_grad():
        logits, _ = model(*batch(pairs, pad, types))
        joined_logits, _ = model(*batch(joined, pad, types))
        ids, kinds, mask = batch(alone, pad, types)
        _, hidden = model(ids, kinds, mask)
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    for at, (query, candidate, label) in enumerate(PAIRS):
        expected["pairs"].append({
            "query": query, "candidate": candidate, "label": label,
            "ids": pairs[at].ids, "types": [min(t, types - 1) for t in pairs[at].type_ids],
            "joined_ids": joined[at].ids,
            "logits": logits[at].tolist(), "joined_logits": joined_logits[at].tolist(),
            "embedding": mean[at].tolist(),
        })

    model.train()
    steps, rate = 5, 1e-3
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: (steps - s) / steps)
    halves = [range(0, 4), range(4, 8)]
    losses, norms = [], []
    for _ in range(steps):
        total = 0.0
        for half in halves:
            out, _ = model(*batch([pairs[i] for i in half], pad, types))
            labels = torch.tensor([PAIRS[i][2] for i in half])
            loss = torch.nn.functional.cross_entropy(out, labels)
            total += loss.item() / 2
            (loss / 2).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        losses.append(total)
    expected["losses"], expected["norms"] = losses, norms
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


for name in ("bert", "roberta"):
    make(name)
