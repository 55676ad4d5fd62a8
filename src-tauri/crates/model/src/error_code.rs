//! The closed list of error codes: what a user, an executor or the command line sees of a refusal.
//!
//! The code is stable and is what a client may branch on; the message, in both languages, says what
//! is wrong, and the hint what to do. The first digit after the zeros of old names the subject: 0 jobs
//! and schedules, 1 instances, 2 tasks, 3 processors, 4 executors and access, 5 storage,
//! 6 coordination, 7 flow control, 8 alarms.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Words;

macro_rules! codes {
    ($($name:ident = $code:literal, $en:literal, $zh:literal, $hint_en:literal, $hint_zh:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($name,)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// The message with its parameters still to be put in.
    pub fn message(self) -> Words {
                match self { $(Code::$name => Words::new($en, $zh),)* }
            }

            /// What to do about it.
    pub fn hint(self) -> Words {
                match self { $(Code::$name => Words::new($hint_en, $hint_zh),)* }
            }
        }
    };
}

codes! {
    // 0: jobs and schedules
    BadRequest = "k_sc_ec_000001",
        "the request is not valid: {reason}", "请求无效：{reason}",
        "Check the fields that the message names.", "请检查提示中的字段。";
    JobNotFound = "k_sc_ec_000004",
        "job {job} not found", "找不到任务 {job}",
        "`campanile jobs` lists the jobs there are.", "可用 `campanile jobs` 查看现有任务。";
    JobNameTaken = "k_sc_ec_000005",
        "a job named {job} exists already", "已存在名为 {job} 的任务",
        "Choose another name, or edit the job that has it.", "请换一个名称，或编辑已有的任务。";
    JobChanged = "k_sc_ec_000006",
        "job {job} was changed meanwhile (it is at version {version} now)", "任务 {job} 已被他人修改（现为第 {version} 版）",
        "Look at the new version and make your change again.", "请查看新版本后重新修改。";
    JobInvalid = "k_sc_ec_000010",
        "{field}: {reason}", "{field}：{reason}",
        "Correct the field and save again.", "请更正该字段后重新保存。";
    ScheduleInvalid = "k_sc_ec_000011",
        "the schedule is not valid: {reason}", "调度设置无效：{reason}",
        "Correct it; the preview shows what it would do.", "请更正；预览会显示实际的执行时间。";
    ScheduleNeverFires = "k_sc_ec_000012",
        "the schedule can never fire: {reason}", "该调度永远不会触发：{reason}",
        "Choose days that exist.", "请选择存在的日期。";
    UnknownZone = "k_sc_ec_000013",
        "unknown time zone {zone}", "未知时区 {zone}",
        "Use a name such as Asia/Shanghai or Europe/Berlin.", "请使用如 Asia/Shanghai、Europe/Berlin 的名称。";
    NotYet = "k_sc_ec_000014",
        "{feature} cannot be used in this version", "当前版本尚不支持{feature}",
        "Leave it out, or wait for a version that has it.", "请去掉该设置，或等待支持它的版本。";
    CannotMove = "k_sc_ec_000015",
        "this run cannot be moved: {reason}", "无法移动这次执行：{reason}",
        "Edit the schedule itself instead.", "请直接编辑调度设置。";
    NothingToRestore = "k_sc_ec_000016",
        "job {job} has no version {version}", "任务 {job} 没有第 {version} 版",
        "The job's history lists its versions.", "可在任务的历史中查看各版本。";
    CrontabRefused = "k_sc_ec_000017",
        "nothing of the crontab could become a job", "该 crontab 中没有可转换为任务的行",
        "Each line's reason stands beside it.", "每一行的原因已列在旁边。";
    TimeInvalid = "k_sc_ec_000018",
        "{text} is not a time", "{text} 不是有效的时间",
        "Write epoch milliseconds or RFC 3339, such as 2026-03-01T09:00:00+08:00.",
        "请使用毫秒时间戳或 RFC 3339 格式，例如 2026-03-01T09:00:00+08:00。";
    CalendarNotFound = "k_sc_ec_000030",
        "there is no calendar named {calendar}", "没有名为 {calendar} 的日历",
        "`campanile calendar list` shows those there are.", "可用 `campanile calendar list` 查看现有日历。";
    CalendarInvalid = "k_sc_ec_000031",
        "the calendar is not right: {field} {reason}", "日历设置不正确：{field} {reason}",
        "Correct the field and save again.", "请更正该字段后重新保存。";
    CalendarFileRefused = "k_sc_ec_000032",
        "line {line} of the file: {reason}", "文件第 {line} 行：{reason}",
        "Correct the file, or export it anew from where it comes.", "请更正文件，或从其来源重新导出。";
    CalendarChanged = "k_sc_ec_000033",
        "calendar {calendar} was changed meanwhile (it is at revision {revision} now)", "日历 {calendar} 已被他人修改（现为第 {revision} 次修订）",
        "Look at it as it is now and make your change again.", "请查看最新内容后重新修改。";
    CalendarInUse = "k_sc_ec_000034",
        "calendar {calendar} is in use: {users}", "日历 {calendar} 正在使用：{users}",
        "Give those another calendar first.", "请先为它们换用其他日历。";
    CalendarBuiltIn = "k_sc_ec_000035",
        "calendar {calendar} is built in and cannot be removed", "日历 {calendar} 为内置日历，无法删除",
        "What was changed of it can be taken back.", "可以撤销对它的修改。";
    UpstreamUnknown = "k_sc_ec_000040",
        "there is no job named {job} to run after", "没有名为 {job} 的上游任务",
        "Name a job that exists; `campanile jobs` lists them.", "请填写已有的任务，可用 `campanile jobs` 查看。";
    AfterCircle = "k_sc_ec_000041",
        "these jobs would wait for each other for ever: {circle}", "这些任务会永远互相等待：{circle}",
        "Take one of them out of the circle.", "请将其中一个任务移出这个环。";
    JobHasDownstream = "k_sc_ec_000042",
        "job {job} cannot be removed: {jobs} run after it", "无法删除任务 {job}：{jobs} 在它之后运行",
        "Remove those as well, or give them another schedule first.", "请一并删除它们，或先更改它们的调度。";
    QuestionAnswered = "k_sc_ec_000043",
        "nobody waits for that answer any more", "该问题已有答复或已过期",
        "Look at what became of it; the job can be run by hand.", "请查看其结果；也可手动运行该任务。";
    BackfillRefused = "k_sc_ec_000044",
        "this stretch cannot be backfilled: {reason}", "无法补跑该时间段：{reason}",
        "Choose another stretch of the past.", "请选择另一段过去的时间。";
    BlackoutInvalid = "k_sc_ec_000046",
        "{field}: {reason}", "{field}：{reason}",
        "Correct the field; the effect shows which runs the window would hold.", "请更正该字段；可先查看该时段会影响哪些执行。";
    BlackoutNotFound = "k_sc_ec_000047",
        "there is no blackout window {name}", "没有禁止执行时段 {name}",
        "The calendar's settings list the windows there are.", "可在日历设置中查看现有的时段。";
    BackfillNotFound = "k_sc_ec_000045",
        "no backfill {backfill} is under way", "没有正在进行的补跑 {backfill}",
        "`campanile backfill --list` shows those there are.", "可用 `campanile backfill --list` 查看现有的补跑。";
    ZoneDataInvalid = "k_sc_ec_000050",
        "{folder} cannot be used as zone data: {reason}", "{folder} 不能用作时区数据：{reason}",
        "Name a folder of compiled zones with its tzdata.zi, such as /usr/share/zoneinfo or that of the Python package tzdata.",
        "请指定包含 tzdata.zi 的已编译时区目录，例如 /usr/share/zoneinfo 或 Python 包 tzdata 的目录。";
    ZoneDataOlder = "k_sc_ec_000051",
        "zone data {version} is not newer than {current}, which is in use", "时区数据 {version} 不比正在使用的 {current} 新",
        "Nothing has to be done.", "无需处理。";

    // 1: instances
    InstanceNotFound = "k_sc_ec_100004",
        "job instance {instance} not found", "找不到任务实例 {instance}",
        "It may have been purged: what has ended is kept for a limited time.", "它可能已被清理：已结束的内容只保留一段时间。";
    InstanceFinal = "k_sc_ec_100005",
        "instance {instance} has ended already ({state})", "任务实例 {instance} 已结束（{state}）",
        "There is nothing left to stop.", "没有可停止的内容。";
    InstanceNotFinal = "k_sc_ec_100006",
        "instance {instance} has not ended yet ({state})", "任务实例 {instance} 尚未结束（{state}）",
        "Cancel it first, or wait for its end.", "请先取消它，或等待其结束。";
    NothingToRetry = "k_sc_ec_100007",
        "instance {instance} has nothing to retry ({state})", "任务实例 {instance} 没有可重试的内容（{state}）",
        "Run the job again instead.", "可改为再次运行该任务。";

    ShardDataInvalid = "k_sc_ec_100010",
        "the data of the run cannot be used: {reason}", "运行的数据不可用：{reason}",
        "Give a list of levels, each a list of items: [[1, 2], [3]].", "请提供层级的列表，每个层级是项的列表：[[1, 2], [3]]。";
    DataGone = "k_sc_ec_100011",
        "the data {data} is not there: a run has taken it, it was discarded, or it has lain for a day", "数据 {data} 不存在：已被某次运行使用、已丢弃，或已超过一天未使用",
        "Read the file again.", "请重新读取文件。";
    DataFileUnreadable = "k_sc_ec_100012",
        "{file} cannot be read: {reason}", "无法读取 {file}：{reason}",
        "Give a file of CSV, Excel (.xlsx, .xls, .ods) or JSON.", "请提供 CSV、Excel（.xlsx、.xls、.ods）或 JSON 文件。";
    DataFileChanged = "k_sc_ec_100013",
        "{file} was changed while it was read, or since it was looked at", "{file} 在读取期间或查看之后被修改",
        "Look at it again when nobody writes it any more.", "请在无人写入后重新查看。";
    DataRowRefused = "k_sc_ec_100014",
        "row {row} of {file}: {reason}", "{file} 第 {row} 行：{reason}",
        "Correct the row; nothing of the file has been run.", "请更正该行；该文件尚未运行任何内容。";
    DataFileUnknown = "k_sc_ec_100015",
        "the file {file} is not at hand any more", "文件 {file} 已不可用",
        "Choose it again.", "请重新选择该文件。";
    DataNotLooked = "k_sc_ec_100016",
        "{file} cannot be taken in yet: {reason}", "尚不能载入 {file}：{reason}",
        "Look at it first; what is wrong with it stands there.", "请先查看该文件；其中的问题会列出。";
    ReportUnwritable = "k_sc_ec_100017",
        "the report cannot be written to {file}: {reason}", "无法将报告写入 {file}：{reason}",
        "Choose another place for it.", "请选择其他位置。";
    ReadingStopped = "k_sc_ec_100018",
        "the reading of {file} was stopped", "已停止读取 {file}",
        "Look at it again to go on.", "如需继续，请重新查看。";

    NoSuchShards = "k_sc_ec_100020",
        "of the shards that were marked in instance {instance}: {reason}", "在实例 {instance} 中所选的分片：{reason}",
        "Look at the run again and mark others.", "请重新查看该运行并选择其他分片。";

    // 2: tasks
    TaskNotFound = "k_sc_ec_200004",
        "task {task} not found", "找不到作业 {task}",
        "It may have been purged: what has ended is kept for a limited time.", "它可能已被清理：已结束的内容只保留一段时间。";
    TaskIllegal = "k_sc_ec_200005",
        "task {task} is {state}; that cannot be done to it now", "作业 {task} 处于 {state}，当前不能执行该操作",
        "Look at its state again.", "请重新查看其状态。";
    TaskTimedOut = "k_sc_ec_200010",
        "stopped at its timeout of {seconds} s", "达到 {seconds} 秒超时后被终止",
        "Give it more time, or find out what made it slow.", "请延长超时时间，或排查变慢的原因。";
    TaskExecutorLost = "k_sc_ec_200011",
        "executor {executor} was lost while it had the task", "执行器 {executor} 在持有该作业时失联",
        "Look at the executor's host; the next attempt goes by the retry policy.", "请检查执行器所在主机；下一次尝试按重试策略进行。";
    TaskReadyTimeout = "k_sc_ec_200012",
        "no executor of group {group} came for processor {processor} in {seconds} s", "{seconds} 秒内执行器组 {group} 中没有执行器可运行 {processor}",
        "Start an executor that has the processor.", "请启动一个注册了该 Processor 的执行器。";
    TaskPushTimeout = "k_sc_ec_200013",
        "executor {executor} did not start it in {seconds} s", "执行器 {executor} 在 {seconds} 秒内没有开始执行",
        "Look at what keeps the executor busy.", "请查看执行器在忙什么。";

    // 3: processors
    ProcessorNotRegistered = "k_sc_ec_300001",
        "processor {name} is not registered", "Processor Name 未注册 {name}",
        "Check the name, and the executor group it belongs to.", "请检查名称及其所属的执行器组。";
    NoExecutorForProcessor = "k_sc_ec_300006",
        "no executor for processor {name}", "processor({name}) 找不到对应 executor",
        "Start an executor of its group.", "请启动该组的执行器。";
    // From here to 300031: what the SDK and the built-in processors say of an attempt, in the SDK's own words.
    ParametersRefused = "k_sc_ec_300010",
        "parameter {field} is not right: {problem}", "参数 {field} 不正确：{problem}",
        "Correct the parameter in the job.", "请在任务中更正该参数。";
    CommandNotFound = "k_sc_ec_300011",
        "the command was not found: {command}", "找不到命令：{command}",
        "Install it where the executor runs, or give its whole path.", "请在执行器所在机器上安装它，或写出完整路径。";
    CommandExited = "k_sc_ec_300012",
        "the command ended with exit code {code}", "命令以退出码 {code} 结束",
        "The task's log shows what it said.", "可在作业日志中查看输出。";
    CommandSignalled = "k_sc_ec_300013",
        "the command was ended by signal {signal}", "命令被信号 {signal} 终止",
        "Someone or the system's memory watch ended it; look at the host.", "可能被人为或系统内存保护终止，请检查主机。";
    HttpStatus = "k_sc_ec_300014",
        "{url} answered {status}, expected {expected}", "{url} 返回 {status}，期望 {expected}",
        "The run's result shows the answer.", "可在运行结果中查看响应。";
    AddressRefused = "k_sc_ec_300015",
        "{address} may not be called: {why}", "不允许访问 {address}：{why}",
        "Allow private addresses in the job, where the executor permits it.", "如执行器允许，可在任务中开启私有地址访问。";
    ConnectionUnknown = "k_sc_ec_300016",
        "there is no connection named {connection} at this executor", "此 Executor 上没有名为 {connection} 的连接",
        "Define it where the executor runs.", "请在执行器处定义该连接。";
    StatementFailed = "k_sc_ec_300017",
        "the database refused the statement: {detail}", "数据库拒绝了该语句：{detail}",
        "Correct the statement in the job.", "请在任务中更正该语句。";
    ProcessorPanicked = "k_sc_ec_300018",
        "the processor panicked: {detail}", "Processor 崩溃（panic）：{detail}",
        "It is a fault of the processor; its log shows where.", "这是 Processor 的缺陷，日志中有位置信息。";
    TookTooLong = "k_sc_ec_300019",
        "{what} took longer than {seconds} s", "{what} 超过 {seconds} 秒未完成",
        "Give it more time, or find out what is slow.", "请延长时间，或排查缓慢原因。";
    FolderMissing = "k_sc_ec_300020",
        "the working folder {folder} does not exist or may not be entered", "工作目录 {folder} 不存在或无法进入",
        "Make the folder, or name another one in the job.", "请创建该目录，或在任务中改用其他目录。";
    ExecutorLeft = "k_sc_ec_300021",
        "the executor shut down before the task ended", "任务结束前 Executor 已关闭",
        "The next attempt goes by the retry policy.", "下一次尝试按重试策略进行。";
    LeaseLost = "k_sc_ec_300022",
        "the executor lost its lease and stopped the task", "Executor 失去租约，任务已停止",
        "The next attempt goes by the retry policy.", "下一次尝试按重试策略进行。";
    NotExecutable = "k_sc_ec_300023",
        "the command may not be executed: {command}", "命令不可执行：{command}",
        "Give it the permission to be executed.", "请为其添加可执行权限。";
    UrlUnreachable = "k_sc_ec_300024",
        "{url} could not be reached: {detail}", "无法访问 {url}：{detail}",
        "Look at the network and at the service behind the address.", "请检查网络以及该地址背后的服务。";
    DatabaseUnreachable = "k_sc_ec_300025",
        "connection {connection} could not be used: {detail}", "连接 {connection} 不可用：{detail}",
        "Look at the database and at the connection's address.", "请检查数据库及连接地址。";
    DatabaseBusy = "k_sc_ec_300026",
        "the database is locked or found a deadlock: {detail}", "数据库被锁定或发生死锁：{detail}",
        "The next attempt goes by the retry policy.", "下一次尝试按重试策略进行。";
    ResourceExhausted = "k_sc_ec_300027",
        "out of memory, disk or another resource: {detail}", "内存、磁盘或其他资源耗尽：{detail}",
        "Make room where the executor runs.", "请在执行器所在机器上释放资源。";
    ResultTooLarge = "k_sc_ec_300028",
        "the result has {bytes} bytes, at most {limit} are kept", "结果为 {bytes} 字节，最多保留 {limit} 字节",
        "Hand back less, or put the rest into a file.", "请减少返回内容，或将其写入文件。";
    CommandNotStarted = "k_sc_ec_300029",
        "the command could not be started: {detail}", "命令无法启动：{detail}",
        "Look at the executor's host.", "请检查执行器所在主机。";
    CancelledUnasked = "k_sc_ec_300030",
        "the processor ended as cancelled although nobody asked", "Processor 在无人请求时自行取消",
        "It is a fault of the processor.", "这是 Processor 的缺陷。";
    ResponseBroken = "k_sc_ec_300031",
        "the answer of {url} broke off: {detail}", "{url} 的响应中断：{detail}",
        "The next attempt goes by the retry policy.", "下一次尝试按重试策略进行。";
    HostUnknown = "k_sc_ec_300032",
        "host {host} was not found: {detail}", "找不到主机 {host}：{detail}",
        "Check the host's name, and that the executor's machine can look it up.", "请检查主机名，以及执行器所在机器能否解析它。";
    ConnectionRefused = "k_sc_ec_300033",
        "nothing accepts connections at {address}: {detail}", "{address} 拒绝连接：{detail}",
        "Check the port, that the database runs, and that no firewall is between.", "请检查端口、数据库是否运行以及防火墙设置。";
    DatabaseSilent = "k_sc_ec_300034",
        "{address} did not answer in {seconds} s", "{address} 在 {seconds} 秒内没有应答",
        "Check the address, and whether a firewall drops what is sent there.", "请检查地址，以及是否被防火墙丢弃。";
    LoginRefused = "k_sc_ec_300035",
        "the database refused the login of {user}: {detail}", "数据库拒绝了 {user} 的登录：{detail}",
        "Check user and password, and whether that user may come from this machine.", "请检查用户名和密码，以及该用户是否允许从本机登录。";
    DatabaseMissing = "k_sc_ec_300036",
        "there is no database {database}: {detail}", "数据库 {database} 不存在：{detail}",
        "Check the name of the database, or the path of the file.", "请检查数据库名称或文件路径。";
    SecretUnavailable = "k_sc_ec_300037",
        "the password of connection {connection} is out of reach: {reason}", "无法存取连接 {connection} 的密码：{reason}",
        "Unlock the system keychain, or type the password again.", "请解锁系统密钥串，或重新输入密码。";
    // What the SDK says of secrets, in its own words.
    SecretMissing = "k_sc_ec_300040",
        "there is no secret {name} for this executor's group", "该执行器组没有名为 {name} 的密钥值",
        "Set it: `campanile secret set`, or Settings.", "请设置它：`campanile secret set`，或在“设置”中添加。";
    SecretClosed = "k_sc_ec_300041",
        "secret {name} cannot be opened here: it is sealed to another key than this executor's", "此处无法打开密钥值 {name}：它加密到的不是该执行器的密钥",
        "Set it again, or give the executor the key of its group.", "请重新设置该值，或为执行器配置其组的密钥。";

    // What the SDK says of data, in its own words.
    DataIncomplete = "k_sc_ec_300050",
        "the stream broke before all of the data was here", "数据到齐之前连接中断",
        "The next attempt goes by the retry policy.", "下一次尝试按重试策略进行。";
    ItemNotJson = "k_sc_ec_300051",
        "an item is not JSON: {detail}", "有一项不是 JSON：{detail}",
        "It is a fault of the program that sent the data.", "这是发送数据的程序的缺陷。";
    ItemTooLarge = "k_sc_ec_300052",
        "an item has {bytes} bytes, at most {limit} are taken", "单项为 {bytes} 字节，最多 {limit} 字节",
        "Put what is large into a file or a database, and its place into the item.", "请将较大的内容放入文件或数据库，在该项中只写其位置。";
    LevelsOutOfOrder = "k_sc_ec_300053",
        "level {level} was added after level {after}", "层级 {level} 在层级 {after} 之后加入",
        "Add the levels in order, all of one before the next.", "请按顺序加入各层级，先加完一层再加下一层。";
    // What `import` says of its file, in its own words.
    FileUnreadable = "k_sc_ec_300060",
        "file {file} cannot be read: {detail}", "无法读取文件 {file}：{detail}",
        "Look for the file at the executor, and at its first line, which names the columns.", "请在 Executor 上检查该文件及其首行的列名。";
    FileChanged = "k_sc_ec_300061",
        "file {file} changed while it was read", "文件 {file} 在读取过程中发生了变化",
        "The next attempt goes by the retry policy; give it a file that is complete.", "下一次尝试按重试策略进行；请提供已写完的文件。";
    // What the SDK and a node say of locks, in the SDK's own words.
    LockLost = "k_sc_ec_300070",
        "a lock that the task held was lost", "任务持有的锁已丢失",
        "The next attempt goes by the retry policy; what is written under a lock should show its token.", "下一次尝试按重试策略进行；在锁内写入时应校验其令牌。";
    LockHeld = "k_sc_ec_300071",
        "lock {lock} is held by {holder}", "锁 {lock} 正由 {holder} 持有",
        "Wait longer for it, or see with `campanile locks` what its holder does.", "请延长等待时间，或用 `campanile locks` 查看持有者的情况。";
    LockNameRefused = "k_sc_ec_300072",
        "a lock's name has 1 to 200 bytes and no control characters: {lock}", "锁名须为 1 到 200 字节且不含控制字符：{lock}",
        "Choose another name.", "请更换名称。";
    TooManyLocks = "k_sc_ec_300073",
        "too many locks: {problem}", "锁过多：{problem}",
        "Leave what is not needed any more, or lock something larger.", "请释放不再需要的锁，或改用范围更大的锁。";
    LocksUnavailable = "k_sc_ec_300074",
        "no locks are given out now: {problem}", "暂时无法分配锁：{problem}",
        "The next attempt goes by the retry policy.", "下一次尝试按重试策略进行。";
    LockNotHeld = "k_sc_ec_300075",
        "lock {lock} is not held any more", "锁 {lock} 已不再持有",
        "Someone else may have had it since; look at what was written.", "期间可能已被他人持有，请检查写入的内容。";

    // 4: executors and access
    ExecutorNotFound = "k_sc_ec_400002",
        "executor {executor} not found", "找不到 Executor {executor}",
        "The list of executors shows who is there.", "请在执行器列表中查看。";
    NoPermission = "k_sc_ec_400005",
        "no permission", "无权限操作",
        "Ask an administrator for the role that may do this.", "请向管理员申请相应角色。";
    TokenWrong = "k_sc_ec_400006",
        "the access token is missing or wrong", "访问令牌缺失或不正确",
        "Open the address that `campanile serve` printed.", "请打开 `campanile serve` 输出的地址。";
    ExecutorNameTaken = "k_sc_ec_400007",
        "executor {executor} is already connected", "执行器 {executor} 已连接",
        "Give each executor of a group a name of its own.", "请为组内每个执行器取不同的名称。";
    ProtocolVersion = "k_sc_ec_400008",
        "protocol version {version} is not understood", "不支持协议版本 {version}",
        "Use an SDK of this release.", "请使用与此版本匹配的 SDK。";
    UnknownOperation = "k_sc_ec_400009",
        "there is no operation {operation}", "没有名为 {operation} 的操作",
        "The console and the node must be of one version.", "控制台与节点的版本必须一致。";
    ExecutorTokenRefused = "k_sc_ec_400010",
        "the executor may not join group {group}: {reason}", "执行器不能加入组 {group}：{reason}",
        "Give the executor a token of its group; `campanile token make` makes one.", "请为执行器配置该组的令牌；可用 `campanile token make` 生成。";
    RegisterFirst = "k_sc_ec_400011",
        "the stream was closed: {reason}", "连接已被关闭：{reason}",
        "An executor sends Register first, within 5 s, and then keeps to the order of the protocol.", "执行器须在 5 秒内首先发送 Register，之后遵守协议规定的顺序。";
    MessageTooLarge = "k_sc_ec_400012",
        "a message is larger than {limit} bytes", "消息超过 {limit} 字节",
        "Send less at once: what is longer goes in chunks.", "请减少单次发送的内容，更长的内容应分块发送。";
    TokenNotFound = "k_sc_ec_400013",
        "there is no token {token}", "没有令牌 {token}",
        "The list of tokens shows their ids.", "可在令牌列表中查看 ID。";
    TooManyTries = "k_sc_ec_400014",
        "too many wrong tokens came from {address}", "来自 {address} 的错误令牌过多",
        "Wait a minute, and try again with the right one.", "请等待一分钟，再使用正确的令牌重试。";
    TlsMissing = "k_sc_ec_400015",
        "executors of other machines would come to {address} without TLS", "其他机器的执行器将在没有 TLS 的情况下接入 {address}",
        "Give --tls-cert and --tls-key (`campanile certs make` makes them), or --without-tls where the network is safe.", "请提供 --tls-cert 和 --tls-key（可用 `campanile certs make` 生成）；网络安全时可用 --without-tls。";
    SecretKeyUnknown = "k_sc_ec_400040",
        "no executor of group {group} has a key for secrets", "执行器组 {group} 中没有带密钥的执行器",
        "Make a key with `campanile secret keygen`, start the group's executors with it, or give its public half.",
        "请用 `campanile secret keygen` 生成密钥并以其启动该组的执行器，或直接提供公钥。";
    SecretKeysDiffer = "k_sc_ec_400041",
        "the executors of group {group} have different keys: {executors}", "执行器组 {group} 的执行器使用了不同的密钥：{executors}",
        "Give all of them the same key, and set the secret again.", "请让它们使用同一密钥，然后重新设置。";
    SecretNotFound = "k_sc_ec_400042",
        "there is no secret {name} for group {group}", "执行器组 {group} 没有名为 {name} 的密钥值",
        "`campanile secret list` names those there are.", "可用 `campanile secret list` 查看现有名称。";

    // 5: storage
    StorageUnavailable = "k_sc_ec_500001",
        "storage does not answer: {reason}", "存储不可用：{reason}",
        "It is tried again by itself; nothing was lost.", "系统会自动重试；没有数据丢失。";
    DiskFull = "k_sc_ec_500002",
        "the disk is full", "磁盘已满",
        "Free some room; work goes on by itself.", "请释放空间；之后会自动继续。";
    DataReadOnly = "k_sc_ec_500003",
        "the data folder {folder} cannot be written", "数据目录 {folder} 不可写",
        "Change its permissions, or choose another with --data.", "请修改权限，或用 --data 指定其他目录。";
    SchemaNewer = "k_sc_ec_500004",
        "the database is of a newer version (schema {found}, this program knows {known})",
        "数据库版本较新（架构 {found}，本程序支持到 {known}）",
        "Start the newer program.", "请使用更新版本的程序。";
    DataDamaged = "k_sc_ec_500005",
        "the database is damaged: {reason}", "数据库已损坏：{reason}",
        "Restore a copy of the data folder.", "请用备份恢复数据目录。";
    LogUnavailable = "k_sc_ec_500006",
        "the log of task {task} cannot be read: {reason}", "无法读取作业 {task} 的日志：{reason}",
        "It may have been purged: what has ended is kept for a limited time.", "它可能已被清理：已结束的内容只保留一段时间。";

    SchemaOlder = "k_sc_ec_500007",
        "the team's database is of an older version (schema {found}, this program needs {known})",
        "团队数据库版本较旧（架构 {found}，本程序需要 {known}）",
        "A console changes nothing there: start a node of this version, or look with an older console.",
        "控制台不会改动数据库结构：请启动此版本的节点，或改用较旧版本的控制台。";

    // 6: coordination
    NotLeading = "k_sc_ec_600001",
        "no running engine holds this data folder", "没有正在运行的引擎持有该数据目录",
        "Start the desktop app or `campanile serve`.", "请启动桌面应用或 `campanile serve`。";
    Unanswered = "k_sc_ec_600002",
        "the engine did not answer in {seconds} s", "引擎在 {seconds} 秒内没有回应",
        "The request stands and will be carried out; look again in a moment.", "请求已记录，稍后会执行，请稍候再查看。";
    AddressTaken = "k_sc_ec_600003",
        "cannot listen on {address}: {reason}", "无法监听 {address}：{reason}",
        "Choose another port with --port.", "请用 --port 指定其他端口。";
    ConfigInvalid = "k_sc_ec_600010",
        "the configuration is not right: {reason}", "配置有误：{reason}",
        "`campanile config` shows every key with its value and where that comes from.", "可用 `campanile config` 查看每个配置项的值及其来源。";
    TeamUnknown = "k_sc_ec_600020",
        "there is no team {team} here", "本机没有保存团队 {team}",
        "Settings lists the teams that this console knows.", "可在设置中查看已保存的团队。";
    TeamNameTaken = "k_sc_ec_600021",
        "a team called {team} exists already", "已存在名为 {team} 的团队",
        "Choose another name.", "请换一个名称。";
    TeamAddress = "k_sc_ec_600022",
        "{address} is no address of a node: {reason}", "{address} 不是节点地址：{reason}",
        "Give it as `campanile serve` prints it, such as http://127.0.0.1:4000/#token=…",
        "请按 `campanile serve` 输出的形式填写，例如 http://127.0.0.1:4000/#token=…";
    TeamAway = "k_sc_ec_600023",
        "no node of {team} answers: {reason}", "{team} 没有节点应答：{reason}",
        "The console goes on trying; look whether a node runs, and whether this machine reaches it.",
        "控制台会继续重试；请确认有节点在运行，且本机可以访问。";
    TeamSilent = "k_sc_ec_600024",
        "a node of {team} took the request and did not answer: {reason}", "{team} 的节点收到请求但没有应答：{reason}",
        "It may have been done: look before you ask again.", "请求可能已执行，请先确认再重试。";
    NoNode = "k_sc_ec_600025",
        "{address} answers, but not as a node does: {reason}", "{address} 有应答，但不是 Campanile 节点：{reason}",
        "Look whether the address and port are those of `campanile serve`.", "请检查地址和端口是否为 `campanile serve` 的地址。";

    TeamDatabase = "k_sc_ec_600026",
        "{address} is no address of a team's database: {reason}", "{address} 不是团队数据库地址：{reason}",
        "Give it as mysql://user@host:3306/database; the password stands apart.",
        "请按 mysql://用户@主机:3306/库名 的形式填写，密码单独填写。";
    NodesAway = "k_sc_ec_600027",
        "no node of {team} can be reached: {reason}", "无法连接 {team} 的任何节点：{reason}",
        "What is shown is read from the database once a second; live events, logs, uploads and reports come back with a node.",
        "当前每秒从数据库读取一次；节点恢复后，实时事件、日志、上传和报告会自动恢复。";

    // 7: flow control
    Held = "k_sc_ec_700001",
        "everything is held: {reason}", "全部暂停中：{reason}",
        "Release it in the top bar when the reason is gone.", "原因解除后，可在顶栏恢复。";
    HoldNeedsReason = "k_sc_ec_700002",
        "holding everything needs a reason", "全部暂停需要填写原因",
        "Say why, for those who see it.", "请填写原因，供其他人查看。";

    // 8: alarms
    AlarmNotFound = "k_sc_ec_800004",
        "alarm {alarm} not found", "找不到告警 {alarm}",
        "It may have been purged.", "它可能已被清理。";
    NoteMissing = "k_sc_ec_800005",
        "acknowledging an alarm takes a note", "确认告警需要填写备注",
        "Say what you know or what you will do.", "请写明已知情况或处理打算。";
}

impl Code {
    /// Starts a refusal: `Code::JobNotFound.fault().with("job", name)`.
    pub fn fault(self) -> Fault {
        let hint = self.hint();
        Fault { code: self.as_str().to_owned(), message: self.message(), hint: Some(hint), field: None, span: None }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal, as the person asking should see it. `code` is what a client may branch on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[error("{code}: {}", message.en)]
pub struct Fault {
    pub code: String,
    pub message: Words,
    pub hint: Option<Words>,
    /// The input that it is about, as a path into what was sent: `schedule.expression`.
    pub field: Option<String>,
    /// The characters of that input that are meant, from and up to; the whole of it where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub span: Option<(u32, u32)>,
}

impl Fault {
    /// Puts a parameter in its place in both languages.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Fault {
        self.message = self.message.with(name, &value.to_string());
        self
    }

    /// As `with`, where the parameter itself has two languages.
    #[must_use]
    pub fn with_words(mut self, name: &str, value: &Words) -> Fault {
        let slot = format!("{{{name}}}");
        self.message.en = self.message.en.replace(&slot, &value.en);
        self.message.zh = self.message.zh.replace(&slot, &value.zh);
        self
    }

    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Fault {
        self.field = Some(field.into());
        self
    }

    pub fn is(&self, code: Code) -> bool {
        self.code == code.as_str()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_is_its_own_and_says_the_same_in_both_languages() {
        let mut seen = HashSet::new();
        for code in Code::ALL {
            assert!(seen.insert(code.as_str()), "{code} stands twice");
            assert_eq!(code.as_str().len(), "k_sc_ec_000000".len(), "{code}");
            let Fault { message, hint, .. } = code.fault();
            let hint = hint.expect("every code says what to do");
            assert!(!message.zh.is_ascii() && !hint.zh.is_ascii(), "{code} has no Chinese");
            assert_eq!(slots(&message.en), slots(&message.zh), "{code} names other parameters in Chinese");
        }
    }

    fn slots(text: &str) -> HashSet<&str> {
        text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
    }

    #[test]
    fn the_codes_of_the_contract_are_these() {
        let fault = Code::NoExecutorForProcessor.fault().with("name", "demo");
        assert_eq!(fault.code, "k_sc_ec_300006");
        assert_eq!(fault.message, Words::new("no executor for processor demo", "processor(demo) 找不到对应 executor"));
        assert_eq!(Code::NoPermission.fault().message.zh, "无权限操作");
    }
}
