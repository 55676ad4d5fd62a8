//! Named connections: what Settings shows of them, and how they are defined, tested and removed.
//!
//! The address of a connection is a setting, changed through the desk and audited like any other. Its password goes
//! to the executor of this program first and is not in anything that is asked, answered or written down here: of the
//! password there is only where it lies.

use async_trait::async_trait;
use campanile_model::connection::{Address, CONNECTION_SETTING, Connection, Keeper, Kept, Secret, check_name};
use campanile_model::request::{Ask, Role};
use campanile_model::{Code, Fault, Words};
use serde_json::{Value, json};

use crate::views::*;
use crate::{Api, CallContext};

/// What the executor of this program knows of connections, and keeps for them.
#[async_trait]
pub trait Connections: Send + Sync {
    /// Name and kind of those that its own configuration defines; nobody changes them from here.
    async fn configured(&self) -> Result<Vec<(String, String)>, Fault>;

    /// What would hold a password that is given now.
    async fn keeper(&self) -> Keeper;

    async fn keep(&self, connection: &str, password: &Secret) -> Result<Kept, Fault>;

    /// A password that nothing points to any more. That it could not be taken away is for the program's own log.
    async fn forget(&self, kept: &Kept);

    /// What the server says it is; a refusal says what is in the way.
    async fn test(&self, connection: &str, tried: Tried) -> Result<String, Fault>;
}

/// The connection that a test is of.
#[derive(Debug)]
pub enum Tried {
    /// As a job that names it would get it.
    Defined,
    /// As it is about to be defined.
    Given { address: Address, password: Password },
}

#[derive(Debug)]
pub enum Password {
    None,
    Given(Secret),
    Kept(Kept),
}

impl Api {
    pub(crate) async fn list_connections(&self, _: Nothing, cx: &CallContext) -> Result<ConnectionList, Fault> {
        needs(Role::Editor, cx)?;
        let mut rows: Vec<ConnectionView> = Vec::new();
        // Where both define one, the executor's configuration is what jobs get.
        for (name, kind) in self.connections.configured().await? {
            rows.push(ConnectionView {
                name,
                kind,
                address: None,
                password: None,
                can_change: Allowed::no(Words::new(
                    "it is defined in connections.json in the data folder",
                    "它定义在数据目录的 connections.json 中",
                )),
            });
        }
        for (key, value) in self.store().settings().await? {
            let Some(name) = key.strip_prefix(CONNECTION_SETTING) else { continue };
            let Some(connection) = read(name, value)? else { continue };
            if rows.iter().any(|row| row.name == name) {
                continue;
            }
            rows.push(ConnectionView {
                name: name.to_owned(),
                kind: match connection.address {
                    Address::Mysql(_) => "mysql",
                    Address::Postgres(_) => "postgres",
                    Address::Sqlite { .. } => "sqlite",
                }
                .to_owned(),
                address: Some(connection.address),
                password: connection.password.map(|kept| kept.keeper),
                can_change: cx.may(Role::Admin),
            });
        }
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(ConnectionList { rows, keeper: self.connections.keeper().await, can_add: cx.may(Role::Admin) })
    }

    pub(crate) async fn put_connection(&self, put: PutConnection, cx: &CallContext) -> Result<DoneView, Fault> {
        needs(Role::Admin, cx)?;
        check_name(&put.name)?;
        put.address.check()?;
        if self.connections.configured().await?.iter().any(|(name, _)| *name == put.name) {
            return Err(taken(&put.name));
        }
        let before = self.connection(&put.name).await?;
        if put.new && before.is_some() {
            return Err(taken(&put.name));
        }
        let password = password_for(&put.address, put.password, before.as_ref())?;
        let (kept, fresh) = match password {
            Password::None => (None, None),
            Password::Kept(kept) => (Some(kept), None),
            Password::Given(secret) => {
                let kept = self.connections.keep(&put.name, &secret).await?;
                (Some(kept.clone()), Some(kept))
            }
        };
        let old = before.and_then(|connection| connection.password).filter(|old| Some(old) != kept.as_ref());
        let value = json!(Connection { address: put.address, password: kept });
        match self.ask(cx, Ask::Set { key: setting(&put.name), value }).await {
            Ok(done) => {
                if let Some(old) = old {
                    self.connections.forget(&old).await;
                }
                Ok(DoneView::from(done))
            }
            Err(fault) => {
                // One that nobody has answered yet may still be carried out.
                if let Some(fresh) = fresh.filter(|_| !fault.is(Code::Unanswered)) {
                    self.connections.forget(&fresh).await;
                }
                Err(fault)
            }
        }
    }

    pub(crate) async fn remove_connection(&self, of: OfConnection, cx: &CallContext) -> Result<DoneView, Fault> {
        needs(Role::Admin, cx)?;
        let Some(before) = self.connection(&of.name).await? else {
            return Err(Code::ConnectionUnknown.fault().with("connection", &of.name));
        };
        let done = self.ask(cx, Ask::Set { key: setting(&of.name), value: Value::Null }).await?;
        if let Some(kept) = before.password {
            self.connections.forget(&kept).await;
        }
        Ok(DoneView::from(done))
    }

    pub(crate) async fn test_connection(
        &self,
        test: TestConnection,
        cx: &CallContext,
    ) -> Result<ConnectionTest, Fault> {
        needs(Role::Admin, cx)?;
        let tried = match test.address {
            None => Tried::Defined,
            Some(address) => {
                address.check()?;
                let before = self.connection(&test.name).await?;
                let password = password_for(&address, test.password, before.as_ref())?;
                Tried::Given { address, password }
            }
        };
        let outcome = self.connections.test(&test.name, tried).await;
        Ok(match outcome {
            Ok(server) => ConnectionTest { server: Some(server), fault: None },
            Err(fault) => ConnectionTest { server: None, fault: Some(fault) },
        })
    }

    async fn connection(&self, name: &str) -> Result<Option<Connection>, Fault> {
        match self.store().setting(&setting(name)).await? {
            Some(value) => read(name, value),
            None => Ok(None),
        }
    }
}

fn needs(role: Role, cx: &CallContext) -> Result<(), Fault> {
    if cx.who.role < role { Err(Code::NoPermission.fault()) } else { Ok(()) }
}

fn setting(name: &str) -> String {
    format!("{CONNECTION_SETTING}{name}")
}

/// What a setting holds; nothing where the connection was removed.
fn read(name: &str, value: Value) -> Result<Option<Connection>, Fault> {
    serde_json::from_value(value)
        .map_err(|error| Code::DataDamaged.fault().with("reason", format!("connection {name}: {error}")))
}

fn taken(name: &str) -> Fault {
    let reason = Words::new(format!("there is a connection named {name} already"), format!("已存在名为 {name} 的连接"));
    Code::BadRequest.fault().with_words("reason", &reason).at("name")
}

/// Nothing given means the one that is kept, as long as it goes where it was meant to go; an empty one means none.
fn password_for(address: &Address, given: Option<Secret>, before: Option<&Connection>) -> Result<Password, Fault> {
    if matches!(address, Address::Sqlite { .. }) {
        return Ok(Password::None);
    }
    if let Some(secret) = given {
        return Ok(if secret.0.is_empty() { Password::None } else { Password::Given(secret) });
    }
    let Some((connection, kept)) = before.and_then(|before| Some((before, before.password.clone()?))) else {
        return Ok(Password::None);
    };
    if address.same_login(&connection.address) {
        return Ok(Password::Kept(kept));
    }
    let reason =
        Words::new("host, port or user changed: type the password again", "主机、端口或用户已更改，请重新输入密码");
    Err(Code::BadRequest.fault().with_words("reason", &reason).at("password"))
}
