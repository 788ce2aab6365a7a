//! GitHub's REST API: one question at a time, limits waited out, faults retried.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use hydra_core::ProgressTask;
use octocrab::Octocrab;
use serde::de::DeserializeOwned;

use crate::MineError;
use crate::github::GithubConfig;

/// What GitHub says to a question.
pub(crate) enum Reply<T> {
    /// The answer.
    Found(T),
    /// There is no such thing, or not for everybody: the status.
    Gone(u16),
}

pub(crate) struct Client<'c> {
    crab: Octocrab,
    runtime: tokio::runtime::Runtime,
    config: &'c GithubConfig,
    /// When a part of the API may be asked again.
    ready: HashMap<&'static str, SystemTime>,
}

/// A response as it came.
struct Answer {
    status: u16,
    headers: HashMap<String, String>,
    body: String,
}

/// What to do after an answer.
enum Next<T> {
    Done(Reply<T>),
    Wait(Duration, &'static str),
    Retry(String),
    Follow(String),
    Stop(String),
}

impl<'c> Client<'c> {
    /// A client of the configured API, with a token or without.
    pub fn new(config: &'c GithubConfig, token: Option<&str>) -> Result<Self, MineError> {
        let failed = |message: String| MineError::Github { message };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| failed(format!("cannot start: {e}")))?;
        let timeout = Some(Duration::from_secs(config.timeout_s.max(1)));
        let crab = {
            // The client starts a task of its own where it is made.
            let _inside = runtime.enter();
            let mut builder = Octocrab::builder()
                .base_uri(config.api.as_str())
                .map_err(|e| failed(format!("{}: {e}", config.api)))?
                .set_connect_timeout(timeout)
                .set_read_timeout(timeout);
            if let Some(token) = token {
                builder = builder.personal_token(token.to_owned());
            }
            builder.build().map_err(|e| failed(deepest(&e)))?
        };
        Ok(Self {
            crab,
            runtime,
            config,
            ready: HashMap::new(),
        })
    }

    /// Asks for a path with its query, until there is an answer.
    ///
    /// # Errors
    /// [`MineError::Github`] when the tries are used up, a limit lasts longer than is waited, or
    /// GitHub says that the question is wrong.
    pub fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        task: &dyn ProgressTask,
    ) -> Result<Reply<T>, MineError> {
        let mut path = path.to_owned();
        let (mut failed, mut limited, mut redirects) = (0, 0u32, 0);
        loop {
            let part = part(&path);
            self.wait_for(part, task)?;
            let next = match self.ask(&path) {
                Ok(answer) => {
                    self.note(part, &answer);
                    judge(&answer, self.unsaid(limited))
                }
                Err(message) => Next::Retry(message),
            };
            match next {
                Next::Done(reply) => return Ok(reply),
                Next::Stop(message) => return Err(MineError::Github { message }),
                Next::Wait(time, why) => {
                    limited += 1;
                    self.wait(time, why, task)?;
                }
                Next::Follow(to) => {
                    redirects += 1;
                    path = self.inside(&to).filter(|_| redirects <= 3).ok_or_else(|| {
                        MineError::Github {
                            message: format!("{path}: redirected to {to}"),
                        }
                    })?;
                }
                Next::Retry(message) => {
                    failed += 1;
                    if failed >= self.config.attempts.max(1) {
                        return Err(MineError::Github {
                            message: format!("{path}: {message} ({failed} attempts)"),
                        });
                    }
                    task.message(&format!("{message}; trying again"));
                    std::thread::sleep(self.config.pause(failed));
                }
            }
        }
    }

    fn ask(&self, path: &str) -> Result<Answer, String> {
        let limit = Duration::from_secs(self.config.timeout_s.max(1));
        let talk = async {
            let response = self.crab._get(path).await.map_err(|e| deepest(&e))?;
            let status = response.status().as_u16();
            let headers = response
                .headers()
                .iter()
                .filter_map(|(name, value)| {
                    Some((name.to_string(), value.to_str().ok()?.to_owned()))
                })
                .collect();
            let body = self.crab.body_to_string(response).await;
            Ok(Answer {
                status,
                headers,
                body: body.map_err(|e| deepest(&e))?,
            })
        };
        self.runtime
            .block_on(async { tokio::time::timeout(limit, talk).await })
            .unwrap_or_else(|_| Err(format!("no answer within {} s", limit.as_secs())))
    }

    /// Remembers that this was the last request that a limit allows.
    fn note(&mut self, part: &'static str, answer: &Answer) {
        if answer.number("x-ratelimit-remaining") == Some(0)
            && let Some(time) = answer.until_reset()
        {
            self.ready.insert(part, SystemTime::now() + time);
        }
    }

    fn wait_for(&mut self, part: &'static str, task: &dyn ProgressTask) -> Result<(), MineError> {
        match self.ready.remove(part) {
            Some(moment) => match moment.duration_since(SystemTime::now()) {
                Ok(left) => self.wait(left, "rate limit", task),
                Err(_) => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// How long to wait for a limit that names no time, after a number of limits in a row.
    fn unsaid(&self, limited: u32) -> Duration {
        Duration::from_secs(self.config.secondary_s).saturating_mul(2u32.pow(limited.min(5)))
    }

    /// Sleeps, and says how long yet.
    fn wait(&self, time: Duration, why: &str, task: &dyn ProgressTask) -> Result<(), MineError> {
        if time > Duration::from_secs(self.config.max_wait_s) {
            return Err(MineError::Github {
                message: format!(
                    "{why} for {} s, longer than the {} s that are waited; run the same command \
                     again then, it goes on where it stopped",
                    time.as_secs(),
                    self.config.max_wait_s
                ),
            });
        }
        let end = SystemTime::now() + time;
        while let Ok(left) = end.duration_since(SystemTime::now()) {
            task.message(&format!("{why}: {} s left", left.as_secs() + 1));
            std::thread::sleep(left.min(Duration::from_secs(1)));
        }
        task.message("");
        Ok(())
    }

    /// The path of an address of this API; nothing for any other.
    fn inside(&self, address: &str) -> Option<String> {
        let path = match address.strip_prefix(self.config.api.trim_end_matches('/')) {
            Some(path) => path,
            None => address,
        };
        path.starts_with('/').then(|| path.to_owned())
    }
}

/// Limits are counted apart for the search and for the rest.
fn part(path: &str) -> &'static str {
    match path.starts_with("/search/") {
        true => "search",
        false => "core",
    }
}

/// `unsaid` is how long to wait where a limit names no time.
fn judge<T: DeserializeOwned>(answer: &Answer, unsaid: Duration) -> Next<T> {
    match answer.status {
        200..=299 => match serde_json::from_str(&answer.body) {
            Ok(found) => Next::Done(Reply::Found(found)),
            // The end of a body may be missing though the connection closed in good order.
            Err(e) => Next::Retry(format!("the answer is no JSON as expected: {e}")),
        },
        301 | 302 | 307 | 308 => match answer.headers.get("location") {
            Some(to) => Next::Follow(to.clone()),
            None => Next::Retry("a redirection without a place".to_owned()),
        },
        401 => Next::Stop(
            "the token is not accepted (401); set GITHUB_TOKEN to a valid one, or unset it"
                .to_owned(),
        ),
        403 | 429 => match answer.limit(unsaid) {
            Some((time, why)) => Next::Wait(time, why),
            None => Next::Done(Reply::Gone(answer.status)),
        },
        404 | 410 | 451 => Next::Done(Reply::Gone(answer.status)),
        500..=599 => Next::Retry(format!("GitHub answers {}", answer.status)),
        other => Next::Stop(format!("GitHub answers {other}: {}", answer.message())),
    }
}

impl Answer {
    fn number(&self, header: &str) -> Option<u64> {
        self.headers.get(header)?.trim().parse().ok()
    }

    /// How long to wait, if this answer is a limit's.
    fn limit(&self, unsaid: Duration) -> Option<(Duration, &'static str)> {
        let second = Duration::from_secs(1);
        if let Some(seconds) = self.number("retry-after") {
            return Some((
                Duration::from_secs(seconds).max(second),
                "GitHub asks to wait",
            ));
        }
        if self.number("x-ratelimit-remaining") == Some(0) {
            return Some((self.until_reset().unwrap_or(unsaid), "rate limit"));
        }
        let said = self.message().to_lowercase();
        let secondary = self.status == 429 || said.contains("rate limit") || said.contains("abuse");
        secondary.then_some((unsaid, "secondary rate limit"))
    }

    /// Until the limit ends, by the server's clock where it shows it, and a second for what is
    /// rounded off.
    fn until_reset(&self) -> Option<Duration> {
        let reset = self.number("x-ratelimit-reset")?;
        let shown = self.headers.get("date").and_then(|date| {
            let moment = chrono::DateTime::parse_from_rfc2822(date).ok()?;
            u64::try_from(moment.timestamp()).ok()
        });
        let now = shown.or_else(|| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            now.ok().map(|n| n.as_secs())
        })?;
        Some(Duration::from_secs(reset.saturating_sub(now) + 1))
    }

    /// What GitHub says, on one line.
    fn message(&self) -> String {
        let parsed: Option<serde_json::Value> = serde_json::from_str(&self.body).ok();
        let message = parsed.as_ref().and_then(|v| v["message"].as_str());
        let message = message.unwrap_or(&self.body);
        let printable = message
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c });
        printable.take(300).collect()
    }
}

/// The cause at the bottom, without the backtrace that octocrab's own texts carry.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    let text = cause.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}
