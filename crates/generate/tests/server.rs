//! The client against a real server on loopback that misbehaves as told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use hydra_core::Silent;
use hydra_generate::{GenerateError, Generator, OpenAi, OpenAiConfig, Request, generate};

/// Answers request number i with reply i, the last one for all that follow; keeps the bodies.
fn serve(replies: Vec<String>) -> (String, Arc<Mutex<Vec<serde_json::Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1/", listener.local_addr().expect("an address"));
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&bodies);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut reader = BufReader::new(stream.try_clone().expect("a clone"));
            let mut length = 0;
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a number");
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("the body");
            let number = {
                let mut kept = kept.lock().expect("no panic");
                kept.push(serde_json::from_slice(&body).expect("JSON"));
                kept.len() - 1
            };
            let reply = &replies[number.min(replies.len() - 1)];
            stream.write_all(reply.as_bytes()).expect("sent");
        }
    });
    (url, bodies)
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
}

fn good(text: &str) -> String {
    let body = serde_json::json!({
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
    });
    reply("200 OK", "", &body.to_string())
}

fn client(url: &str) -> OpenAi {
    let config = OpenAiConfig {
        base_url: url.to_owned(),
        model: "m".to_owned(),
        attempts: 4,
        backoff: 0.01,
        ..OpenAiConfig::default()
    };
    OpenAi::new(config, Some("secret".to_owned())).expect("a good configuration")
}

#[test]
fn busy_broken_and_cut_answers_are_asked_for_again() {
    let (url, bodies) = serve(vec![
        reply("429 Too Many Requests", "Retry-After: 0\r\n", "slow down"),
        reply("503 Service Unavailable", "", ""),
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{\"cho".to_owned(),
        good("def f(): pass"),
    ]);
    let completion = client(&url)
        .complete(&"b/1".into(), 3, "the prompt", 42)
        .expect("the fourth answer is good");
    assert_eq!(completion.text, "def f(): pass");
    assert_eq!(completion.finish_reason.as_deref(), Some("stop"));
    let bodies = bodies.lock().expect("no panic");
    assert_eq!(bodies.len(), 4);
    assert_eq!(bodies[3]["seed"], 45);
    assert_eq!(bodies[3]["messages"][1]["content"], "the prompt");
    assert_eq!(bodies[3]["max_tokens"], 2048);
}

#[test]
fn a_refusal_is_final_and_carries_the_servers_words() {
    let (url, bodies) = serve(vec![reply("400 Bad Request", "", "n is too large")]);
    let error = client(&url)
        .complete(&"b/1".into(), 0, "p", 1)
        .expect_err("refused");
    assert!(matches!(error, GenerateError::Refused { status: 400, .. }));
    assert!(error.to_string().contains("n is too large"), "{error}");
    assert!(!error.to_string().contains("secret"));
    assert_eq!(bodies.lock().expect("no panic").len(), 1);
}

#[test]
fn a_refused_key_ends_the_run_at_the_first_answer() {
    let (url, bodies) = serve(vec![reply("401 Unauthorized", "", "no such key")]);
    let folder = tempfile::tempdir().expect("a folder");
    let requests = [Request {
        task: "b/0".into(),
        prompt: "p".to_owned(),
        samples: 9,
    }];
    let out = folder.path().join("answers.jsonl");
    let error = generate(&client(&url), &requests, &out, 1, 42, &Silent).expect_err("refused");
    assert!(matches!(error, GenerateError::Refused { status: 401, .. }));
    assert_eq!(bodies.lock().expect("no panic").len(), 1);
}

#[test]
fn silence_with_a_reason_is_an_answer_and_without_one_is_asked_again() {
    let said = |reason: serde_json::Value| {
        let body = serde_json::json!({
            "choices": [{"message": {"content": null}, "finish_reason": reason}],
        });
        reply("200 OK", "", &body.to_string())
    };
    let (url, bodies) = serve(vec![said(().into()), said("content_filter".into())]);
    let completion = client(&url).complete(&"b/1".into(), 0, "p", 1);
    let completion = completion.expect("the second is an answer");
    assert_eq!(completion.text, "");
    assert_eq!(completion.finish_reason.as_deref(), Some("content_filter"));
    assert_eq!(bodies.lock().expect("no panic").len(), 2);
}

#[test]
fn answers_to_another_prompt_are_not_taken_over() {
    let (url, _) = serve(vec![good("x")]);
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("answers.jsonl");
    let request = |task: &str, prompt: &str| Request {
        task: task.into(),
        prompt: prompt.to_owned(),
        samples: 1,
    };
    let ask = |requests: &[Request]| generate(&client(&url), requests, &out, 1, 42, &Silent);
    ask(&[request("b/0", "p")]).expect("an answer");
    let before = std::fs::read(&out).expect("written");
    let error = ask(&[request("b/0", "q")]).expect_err("another prompt");
    assert!(error.to_string().contains("b/0"), "{error}");
    assert_eq!(std::fs::read(&out).expect("still there"), before);
    // A task that was retrieved for later is asked beside it.
    let both = ask(&[request("b/0", "p"), request("b/1", "q")]).expect("two answers");
    assert_eq!(both.answers.len(), 2);
}

#[test]
fn a_server_that_is_down_is_named_at_once() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", free.local_addr().expect("an address"));
    drop(free);
    let folder = tempfile::tempdir().expect("a folder");
    let requests = [Request {
        task: "b/0".into(),
        prompt: "p".to_owned(),
        samples: 2,
    }];
    let out = folder.path().join("answers.jsonl");
    let error = generate(&client(&url), &requests, &out, 2, 42, &Silent).expect_err("nobody there");
    assert!(error.to_string().contains(&url), "{error}");
    assert!(!out.exists());
}

#[test]
fn a_resumed_run_asks_only_for_what_is_missing_and_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let requests: Vec<Request> = ["b/1", "b/0"]
        .map(|task| Request {
            task: task.into(),
            prompt: "p".to_owned(),
            samples: 3,
        })
        .to_vec();
    let (url, _) = serve(vec![good("x")]);
    let whole = folder.path().join("whole.jsonl");
    generate(&client(&url), &requests, &whole, 3, 42, &Silent).expect("six answers");

    // Two whole lines and one that a kill cut in the middle.
    let resumed = folder.path().join("resumed.jsonl");
    let text = std::fs::read_to_string(&whole).expect("written");
    let kept: Vec<&str> = text.lines().rev().take(2).collect();
    let journal = format!("{}\n{}\n{}", kept[0], kept[1], &text[..20]);
    std::fs::write(folder.path().join("resumed.jsonl.partial"), journal).expect("written");
    let (url, bodies) = serve(vec![good("x")]);
    let done = generate(&client(&url), &requests, &resumed, 1, 42, &Silent).expect("the rest");
    assert_eq!(bodies.lock().expect("no panic").len(), 4);
    assert_eq!(done.answers.len(), 6);
    assert_eq!(std::fs::read_to_string(&resumed).expect("written"), text);
}

#[test]
fn one_failure_does_not_stop_the_others() {
    let (url, _) = serve(vec![reply("400 Bad Request", "", "no"), good("x")]);
    let folder = tempfile::tempdir().expect("a folder");
    let requests = [Request {
        task: "b/0".into(),
        prompt: "p".to_owned(),
        samples: 3,
    }];
    let out = folder.path().join("answers.jsonl");
    let done = generate(&client(&url), &requests, &out, 1, 42, &Silent).expect("it goes on");
    assert_eq!((done.answers.len(), done.failed.len()), (2, 1));
    assert!(!out.exists());
    let (url, _) = serve(vec![good("x")]);
    let done = generate(&client(&url), &requests, &out, 1, 42, &Silent).expect("the last one");
    assert!(done.failed.is_empty() && out.exists());
}
