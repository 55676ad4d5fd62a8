//! How an attempt fails: a class that says what to do next, a stable code, and a
//! sentence in both languages.
//!
//! The codes here are those that the SDK and the built-in processors give. A
//! processor of one's own may use any code; it is shown as it stands.

use campanile_proto::v1;

/// What a failure means for the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Network, lock, time-out: worth another try.
    Transient,
    /// Bad parameters, no permission: would fail again in the same way.
    Business,
    /// Out of memory, disk full: retried sooner, and an alarm at once.
    System,
}

impl From<Class> for v1::FailureClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Transient => v1::FailureClass::Transient,
            Class::Business => v1::FailureClass::Business,
            Class::System => v1::FailureClass::System,
        }
    }
}

/// A code with its sentences; `{name}` in them is filled in by [`TaskError::with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureCode {
    pub code: &'static str,
    pub en: &'static str,
    pub zh: &'static str,
}

impl FailureCode {
    pub fn transient(&self) -> TaskError {
        self.failure(Class::Transient)
    }

    pub fn business(&self) -> TaskError {
        self.failure(Class::Business)
    }

    pub fn system(&self) -> TaskError {
        self.failure(Class::System)
    }

    pub fn failure(&self, class: Class) -> TaskError {
        TaskError(Kind::Failed { class, code: self.code.to_owned(), en: self.en.to_owned(), zh: self.zh.to_owned() })
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $en:literal, $zh:literal;)*) => {
        $($(#[$doc])* pub const $name: FailureCode = FailureCode { code: $code, en: $en, zh: $zh };)*

        /// Every code above, in order.
        pub const ALL: &[FailureCode] = &[$($name),*];
    };
}

codes! {
    PARAMETERS_REFUSED = "k_sc_ec_300010", "parameter {field} is not right: {problem}", "参数 {field} 不正确：{problem}";
    COMMAND_NOT_FOUND = "k_sc_ec_300011", "the command was not found: {command}", "找不到命令：{command}";
    EXITED = "k_sc_ec_300012", "the command ended with exit code {code}", "命令以退出码 {code} 结束";
    SIGNALLED = "k_sc_ec_300013", "the command was ended by signal {signal}", "命令被信号 {signal} 终止";
    HTTP_STATUS = "k_sc_ec_300014", "{url} answered {status}, expected {expected}", "{url} 返回 {status}，期望 {expected}";
    ADDRESS_REFUSED = "k_sc_ec_300015", "{address} may not be called: {why}", "不允许访问 {address}：{why}";
    CONNECTION_UNKNOWN = "k_sc_ec_300016", "there is no connection named {connection} at this executor", "此 Executor 上没有名为 {connection} 的连接";
    STATEMENT_FAILED = "k_sc_ec_300017", "the database refused the statement: {detail}", "数据库拒绝了该语句：{detail}";
    /// Class business: the same input would bring the same panic.
    PANICKED = "k_sc_ec_300018", "the processor panicked: {detail}", "Processor 崩溃（panic）：{detail}";
    TIMED_OUT = "k_sc_ec_300019", "{what} took longer than {seconds} s", "{what} 超过 {seconds} 秒未完成";
    FOLDER_MISSING = "k_sc_ec_300020", "the working folder {folder} does not exist or may not be entered", "工作目录 {folder} 不存在或无法进入";
    /// The executor shut down and the attempt did not end in the time left.
    EXECUTOR_LEFT = "k_sc_ec_300021", "the executor shut down before the task ended", "任务结束前 Executor 已关闭";
    /// Only for processors that ask to be stopped without a lease, and for
    /// attempts that a node no longer counts as this executor's.
    LEASE_LOST = "k_sc_ec_300022", "the executor lost its lease and stopped the task", "Executor 失去租约，任务已停止";
    NOT_EXECUTABLE = "k_sc_ec_300023", "the command may not be executed: {command}", "命令不可执行：{command}";
    UNREACHABLE = "k_sc_ec_300024", "{url} could not be reached: {detail}", "无法访问 {url}：{detail}";
    DATABASE_UNREACHABLE = "k_sc_ec_300025", "connection {connection} could not be used: {detail}", "连接 {connection} 不可用：{detail}";
    DATABASE_BUSY = "k_sc_ec_300026", "the database is locked or found a deadlock: {detail}", "数据库被锁定或发生死锁：{detail}";
    EXHAUSTED = "k_sc_ec_300027", "out of memory, disk or another resource: {detail}", "内存、磁盘或其他资源耗尽：{detail}";
    RESULT_TOO_LARGE = "k_sc_ec_300028", "the result has {bytes} bytes, at most {limit} are kept", "结果为 {bytes} 字节，最多保留 {limit} 字节";
    NOT_STARTED = "k_sc_ec_300029", "the command could not be started: {detail}", "命令无法启动：{detail}";
    CANCELLED_UNASKED = "k_sc_ec_300030", "the processor ended as cancelled although nobody asked", "Processor 在无人请求时自行取消";
    RESPONSE_BROKEN = "k_sc_ec_300031", "the answer of {url} broke off: {detail}", "{url} 的响应中断：{detail}";
    SECRET_MISSING = "k_sc_ec_300040", "there is no secret {name} for this executor's group", "该执行器组没有名为 {name} 的密钥值";
    SECRET_CLOSED = "k_sc_ec_300041", "secret {name} cannot be opened here: it is sealed to another key than this executor's", "此处无法打开密钥值 {name}：它加密到的不是该执行器的密钥";
    /// The stream broke while items of a shard, or ends of shards, were still to come.
    DATA_INCOMPLETE = "k_sc_ec_300050", "the stream broke before all of the data was here", "数据到齐之前连接中断";
    ITEM_NOT_JSON = "k_sc_ec_300051", "an item is not JSON: {detail}", "有一项不是 JSON：{detail}";
    ITEM_TOO_LARGE = "k_sc_ec_300052", "an item has {bytes} bytes, at most {limit} are taken", "单项为 {bytes} 字节，最多 {limit} 字节";
    LEVELS_OUT_OF_ORDER = "k_sc_ec_300053", "level {level} was added after level {after}", "层级 {level} 在层级 {after} 之后加入";
    FILE_UNREADABLE = "k_sc_ec_300060", "file {file} cannot be read: {detail}", "无法读取文件 {file}：{detail}";
    FILE_CHANGED = "k_sc_ec_300061", "file {file} changed while it was read", "文件 {file} 在读取过程中发生了变化";
    /// Of the attempt whose lock it was; its context is cancelled.
    LOCK_LOST = "k_sc_ec_300070", "a lock that the task held was lost", "任务持有的锁已丢失";
    LOCK_HELD = "k_sc_ec_300071", "lock {lock} is held by {holder}", "锁 {lock} 正由 {holder} 持有";
    LOCK_NAME_REFUSED = "k_sc_ec_300072", "a lock's name has 1 to 200 bytes and no control characters: {lock}", "锁名须为 1 到 200 字节且不含控制字符：{lock}";
    TOO_MANY_LOCKS = "k_sc_ec_300073", "too many locks: {problem}", "锁过多：{problem}";
    LOCKS_UNAVAILABLE = "k_sc_ec_300074", "no locks are given out now: {problem}", "暂时无法分配锁：{problem}";
    LOCK_NOT_HELD = "k_sc_ec_300075", "lock {lock} is not held any more", "锁 {lock} 已不再持有";
}

/// Why an attempt did not succeed.
///
/// There is no conversion from other errors: whether another try is worth it is
/// for whoever wrote the processor to say, each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskError(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Failed { class: Class, code: String, en: String, zh: String },
    Cancelled { message: String },
}

impl TaskError {
    pub fn transient(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::own(Class::Transient, code.into(), message.into())
    }

    pub fn business(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::own(Class::Business, code.into(), message.into())
    }

    pub fn system(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::own(Class::System, code.into(), message.into())
    }

    /// What a processor returns when it ended because it was asked to.
    pub fn cancelled(message: impl Into<String>) -> Self {
        TaskError(Kind::Cancelled { message: message.into() })
    }

    fn own(class: Class, code: String, en: String) -> Self {
        TaskError(Kind::Failed { class, code, en, zh: String::new() })
    }

    /// As another executor said it.
    pub(crate) fn failed(class: Class, code: String, en: String, zh: String) -> Self {
        TaskError(Kind::Failed { class, code, en, zh })
    }

    /// The same sentence in Chinese, for a message of one's own.
    #[must_use]
    pub fn zh(mut self, message: impl Into<String>) -> Self {
        if let Kind::Failed { zh, .. } = &mut self.0 {
            *zh = message.into();
        }
        self
    }

    /// Puts `value` where either sentence says `{name}`.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "a literal number reads better without a reference")]
    pub fn with(self, name: &str, value: impl ToString) -> Self {
        let value = value.to_string();
        self.with_words(name, &value, &value)
    }

    /// As [`TaskError::with`], where the value itself differs by language.
    #[must_use]
    pub fn with_words(mut self, name: &str, in_en: &str, in_zh: &str) -> Self {
        if let Kind::Failed { en, zh, .. } = &mut self.0 {
            let slot = format!("{{{name}}}");
            *en = en.replace(&slot, in_en);
            *zh = zh.replace(&slot, in_zh);
        }
        self
    }

    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Kind::Cancelled { .. })
    }

    /// `None` when it is a cancellation.
    pub fn class(&self) -> Option<Class> {
        match &self.0 {
            Kind::Failed { class, .. } => Some(*class),
            Kind::Cancelled { .. } => None,
        }
    }

    /// `None` when it is a cancellation.
    pub fn code(&self) -> Option<&str> {
        match &self.0 {
            Kind::Failed { code, .. } => Some(code),
            Kind::Cancelled { .. } => None,
        }
    }

    pub fn message(&self) -> &str {
        match &self.0 {
            Kind::Failed { en, .. } => en,
            Kind::Cancelled { message } => message,
        }
    }

    /// The message in Chinese; empty where the processor has only one.
    pub fn message_zh(&self) -> &str {
        match &self.0 {
            Kind::Failed { zh, .. } => zh,
            Kind::Cancelled { message } => message,
        }
    }

    pub(crate) fn into_outcome(self) -> v1::finished::Outcome {
        match self.0 {
            Kind::Failed { class, code, en, zh } => v1::finished::Outcome::Failed(v1::Failure {
                class: v1::FailureClass::from(class).into(),
                code,
                message_en: en,
                message_zh: zh,
            }),
            Kind::Cancelled { message } => v1::finished::Outcome::Cancelled(v1::Cancelled { message }),
        }
    }
}

impl std::fmt::Display for TaskError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Failed { code, en, .. } => write!(f, "{code}: {en}"),
            Kind::Cancelled { message } => write!(f, "cancelled: {message}"),
        }
    }
}

impl std::error::Error for TaskError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_its_own_and_says_the_same_in_both_languages() {
        for (place, code) in ALL.iter().enumerate() {
            assert!(ALL[..place].iter().all(|earlier| earlier.code != code.code), "{} is there twice", code.code);
            assert!(code.code.starts_with("k_sc_ec_3000") && code.code.len() == 14, "{}", code.code);
            assert_eq!(slots(code.en), slots(code.zh), "{}", code.code);
        }
    }

    #[test]
    fn parameters_are_filled_into_both_sentences() {
        let error = EXITED.transient().with("code", 3);
        assert_eq!(error.message(), "the command ended with exit code 3");
        assert_eq!(error.message_zh(), "命令以退出码 3 结束");
    }

    fn slots(sentence: &str) -> Vec<&str> {
        let mut slots: Vec<_> = sentence.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
        slots.sort_unstable();
        slots
    }
}
