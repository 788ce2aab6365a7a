//! Any server that speaks OpenAI's chat completions.

use std::time::Duration;

use hydra_core::TaskId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Completion, GenerateError, Generator};

/// The released package's system prompt.
const SYSTEM_PROMPT: &str = "You are a helpful coding assistant.";
/// A longer body is no completion.
const MAX_BODY: u64 = 32 << 20;
/// A server that names a longer wait is asked again after this.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// A server and how to ask it. The defaults are the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OpenAiConfig {
    /// The address before `/chat/completions`, such as `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// Sampling temperature.
    pub temperature: f64,
    /// Nucleus sampling.
    pub top_p: f64,
    /// At most so many tokens an answer.
    pub max_tokens: u32,
    /// Seconds that one request may take.
    pub timeout: u64,
    /// How often a request is tried.
    pub attempts: u32,
    /// Seconds before the second try; doubled for each one after it.
    pub backoff: f64,
    /// Further fields of the request, such as `repetition_penalty`.
    pub extra: serde_json::Map<String, Value>,
}

impl Default for OpenAiConfig {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: String::new(),
            temperature: 0.2,
            top_p: 0.95,
            max_tokens: 2048,
            timeout: 600,
            attempts: 6,
            backoff: 1.0,
            extra: serde_json::Map::new(),
        }
    }
}

/// A client of one server.
#[derive(Debug)]
pub struct OpenAi {
    config: OpenAiConfig,
    key: Option<String>,
    agent: ureq::Agent,
}

#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

/// What one try came to.
enum Try {
    Done(Completion),
    Again {
        reason: String,
        wait: Option<Duration>,
    },
    Stop(GenerateError),
}

impl OpenAi {
    /// A client; the key goes into the `Authorization` header and nowhere else.
    ///
    /// # Errors
    /// [`GenerateError::Config`] if the address or the model is missing, or the address is none.
    pub fn new(mut config: OpenAiConfig, key: Option<String>) -> Result<Self, GenerateError> {
        if config.base_url.is_empty() {
            return Err(GenerateError::Config(
                "no server given: say --base-url, such as http://127.0.0.1:8080/v1".to_owned(),
            ));
        }
        let address = config.base_url.parse::<ureq::http::Uri>();
        let usable = address.is_ok_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        });
        if !usable {
            return Err(GenerateError::Config(format!(
                "{:?} is no server's address: say one such as http://127.0.0.1:8080/v1",
                config.base_url
            )));
        }
        if config.model.is_empty() {
            return Err(GenerateError::Config(
                "no model given: say --model".to_owned(),
            ));
        }
        let length = config.base_url.trim_end_matches('/').len();
        config.base_url.truncate(length);
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(config.timeout)))
            .timeout_connect(Some(Duration::from_secs(10)))
            .http_status_as_error(false)
            .build()
            .into();
        Ok(Self { config, key, agent })
    }

    fn url(&self) -> String {
        format!("{}/chat/completions", self.config.base_url)
    }

    fn attempt(&self, body: &Value) -> Try {
        let url = self.url();
        let mut request = self.agent.post(&url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let mut response = match request.send_json(body) {
            Ok(response) => response,
            Err(error) => return self.no_response(error),
        };
        let status = response.status().as_u16();
        let wait = response
            .headers()
            .get("retry-after")
            .and_then(|v| v.to_str().ok()?.trim().parse().ok())
            .map(|seconds: u64| Duration::from_secs(seconds).min(MAX_WAIT));
        let text = response
            .body_mut()
            .with_config()
            .limit(MAX_BODY)
            .read_to_string();
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                let reason = format!("the answer broke off: {error}");
                return Try::Again { reason, wait: None };
            }
        };
        match status {
            200..=299 => self.read(&text),
            429 | 408 | 500..=599 => Try::Again {
                reason: format!("status {status}: {}", start_of(&text)),
                wait,
            },
            _ => Try::Stop(GenerateError::Refused {
                url,
                status,
                message: start_of(&text),
            }),
        }
    }

    fn no_response(&self, error: ureq::Error) -> Try {
        let refused = match &error {
            ureq::Error::Io(e) => e.kind() == std::io::ErrorKind::ConnectionRefused,
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
            _ => false,
        };
        if refused {
            return Try::Stop(GenerateError::Unreachable {
                url: self.config.base_url.clone(),
                reason: error.to_string(),
            });
        }
        match error {
            ureq::Error::BadUri(reason) => Try::Stop(GenerateError::Config(format!(
                "{:?} is no server's address: {reason}",
                self.config.base_url
            ))),
            error => Try::Again {
                reason: error.to_string(),
                wait: None,
            },
        }
    }

    fn read(&self, text: &str) -> Try {
        let parsed: Result<Response, _> = serde_json::from_str(text);
        match parsed.map(|r| r.choices.into_iter().next()) {
            // A model may end without a word (`stop`, `length`, `content_filter`): that is an
            // answer. Neither text nor an end is none.
            Ok(Some(choice))
                if choice.message.content.is_some() || choice.finish_reason.is_some() =>
            {
                Try::Done(Completion {
                    text: choice.message.content.unwrap_or_default(),
                    finish_reason: choice.finish_reason,
                })
            }
            Ok(Some(_)) => Try::Again {
                reason: "the answer holds neither text nor a reason why it ended".to_owned(),
                wait: None,
            },
            Ok(None) => Try::Again {
                reason: "the answer holds no choice".to_owned(),
                wait: None,
            },
            Err(error) => Try::Again {
                reason: format!("the answer is no chat completion: {error}"),
                wait: None,
            },
        }
    }
}

fn start_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(300).collect()
}

impl Generator for OpenAi {
    fn name(&self) -> String {
        self.config.model.clone()
    }

    /// Asks for the list of models. Not every server has one, so only silence and a refused key
    /// count.
    fn ready(&self) -> Result<(), GenerateError> {
        let url = format!("{}/models", self.config.base_url);
        let mut request = self
            .agent
            .get(&url)
            .config()
            .timeout_global(Some(Duration::from_secs(10)))
            .build();
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        match request.call() {
            Err(error) => match self.no_response(error) {
                Try::Stop(error) => Err(error),
                Try::Done(_) | Try::Again { .. } => Ok(()),
            },
            Ok(mut response) => match response.status().as_u16() {
                status @ (401 | 403) => Err(GenerateError::Refused {
                    url,
                    status,
                    message: start_of(&response.body_mut().read_to_string().unwrap_or_default()),
                }),
                _ => Ok(()),
            },
        }
    }

    /// Samples are asked for one by one, each with a seed of its own: servers differ in what
    /// they make of `n` (llama.cpp refuses an `n` above its number of slots).
    fn complete(
        &self,
        _: &TaskId,
        sample: usize,
        prompt: &str,
        seed: u64,
    ) -> Result<Completion, GenerateError> {
        let mut body = json!({
            "model": self.config.model,
            "messages": [
                {"role": "system", "content": SYSTEM_PROMPT},
                {"role": "user", "content": prompt},
            ],
            "temperature": self.config.temperature,
            "top_p": self.config.top_p,
            "max_tokens": self.config.max_tokens,
            "seed": seed.wrapping_add(sample as u64),
            "stream": false,
        });
        if let Value::Object(body) = &mut body {
            body.extend(self.config.extra.clone());
        }
        let mut reason = String::new();
        for attempt in 0..self.config.attempts.max(1) {
            if attempt > 0 {
                let doubled = self.config.backoff * f64::from(1u32 << (attempt - 1).min(16));
                std::thread::sleep(Duration::try_from_secs_f64(doubled).unwrap_or(MAX_WAIT));
            }
            match self.attempt(&body) {
                Try::Done(completion) => return Ok(completion),
                Try::Stop(error) => return Err(error),
                Try::Again { reason: why, wait } => {
                    reason = why;
                    std::thread::sleep(wait.unwrap_or_default());
                }
            }
        }
        Err(GenerateError::GaveUp {
            url: self.url(),
            attempts: self.config.attempts.max(1),
            reason,
        })
    }
}
