//! The teams that a console on this machine knows, and at which of them it looks. In a file of the data folder; tokens and
//! passwords lie in the keychain, or each in a file of its own that only its owner may read.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use campanile_api::views::{PlacesView, PutTeam, TeamColour, TeamDatabaseView, TeamNodeTried, TeamNodeView, TeamView};
use campanile_model::connection::{Keeper, Kept, Secret};
use campanile_model::{Code, Fault, Words};
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OnceCell, watch};

use super::address;
use super::link::Node;
use super::lookout::Lookout;
use super::team::Team;
use crate::keychain::Vault;
use crate::{DataFolder, folder};

const MOST_NODES: usize = 16;
const MOST_CHARACTERS: usize = 64;

pub struct Places {
    folder: DataFolder,
    vault: Vault,
    book: Mutex<Book>,
    looked_at: watch::Sender<Option<Arc<Team>>>,
    /// Asked once: the way to a keychain is long, and places are looked up often.
    keeper: OnceCell<Keeper>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Book {
    /// None: this machine.
    current: Option<String>,
    teams: Vec<Entry>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Entry {
    id: String,
    name: String,
    colour: TeamColour,
    /// Where a person says where its nodes are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<KeptNode>,
    /// Where its nodes are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    database: Option<KeptDatabase>,
}

#[derive(Clone, Serialize, Deserialize)]
struct KeptDatabase {
    /// Without the password.
    address: String,
    password: Option<Kept>,
}

#[derive(Clone, Serialize, Deserialize)]
struct KeptNode {
    address: String,
    token: Kept,
}

impl Places {
    /// Reads what is known, and looks where it was looked last. A team whose token cannot be read is still known, and
    /// says so when it is asked for.
    pub async fn open(folder: DataFolder, keychain: bool) -> Result<Places, Fault> {
        let book = read(&folder.teams()).map_err(|error| folder::fault(&error, folder.root()))?;
        let vault = Vault::new(folder.secrets(), keychain);
        let places = Places {
            folder,
            vault,
            book: Mutex::new(book),
            looked_at: watch::Sender::new(None),
            keeper: OnceCell::new(),
        };
        let current = places.book.lock().await.current.clone();
        if let Some(id) = current
            && let Err(fault) = places.look_at(Some(&id)).await
        {
            tracing::warn!(%fault, "the console begins with this machine");
        }
        Ok(places)
    }

    /// The team that is looked at; none: this machine.
    pub fn team(&self) -> Option<Arc<Team>> {
        self.looked_at.borrow().clone()
    }

    /// Tells of each change of place.
    pub fn changes(&self) -> watch::Receiver<Option<Arc<Team>>> {
        self.looked_at.subscribe()
    }

    pub async fn view(&self) -> PlacesView {
        let book = self.book.lock().await.clone();
        let node = |node: KeptNode| TeamNodeView { address: node.address, token: node.token.keeper };
        let database = |KeptDatabase { address, password }| TeamDatabaseView {
            address,
            password: password.map(|password| password.keeper),
        };
        let row = |Entry { id, name, colour, nodes, database: kept }| TeamView {
            id,
            name,
            colour,
            nodes: nodes.into_iter().map(node).collect(),
            database: kept.map(database),
        };
        let team = self.team();
        PlacesView {
            current: book.current.filter(|_| team.is_some()),
            node: team.as_ref().and_then(|team| team.node()),
            reads_database: team.as_ref().and_then(|team| team.reads_database()),
            keeper: *self.keeper.get_or_init(|| self.vault.keeper()).await,
            rows: book.teams.into_iter().map(row).collect(),
        }
    }

    /// Looks at a team, or at this machine, from now on and at the next start.
    pub async fn look_at(&self, id: Option<&str>) -> Result<(), Fault> {
        let mut book = self.book.lock().await;
        let team = match id {
            Some(id) => Some(Arc::new(self.reach(book.entry(id)?).await?)),
            None => None,
        };
        if book.current.as_deref() != id {
            let next = Book { current: id.map(str::to_owned), ..book.clone() };
            self.write(&next)?;
            *book = next;
        }
        self.looked_at.send_replace(team);
        Ok(())
    }

    /// Keeps a new team, or one that was changed. Tells its id.
    pub async fn put(&self, put: PutTeam) -> Result<String, Fault> {
        let mut book = self.book.lock().await;
        let before = match &put.id {
            Some(id) => Some(book.entry(id)?.clone()),
            None => None,
        };
        check(&put, &book)?;
        let mut nodes = Vec::new();
        let mut database = None;
        let mut fresh = Vec::new();
        match self.way(&put, before.as_ref())? {
            Way::Nodes(written) => {
                for (address, token) in written {
                    nodes.push(KeptNode { address, token: self.kept(&put.name, token, &mut fresh).await? });
                }
            }
            Way::Database(address, password) => {
                let password = match password {
                    Some(password) => Some(self.kept(&put.name, password, &mut fresh).await?),
                    None => None,
                };
                database = Some(KeptDatabase { address, password });
            }
        }
        let id = put.id.clone().unwrap_or_else(|| format!("{:016x}", rand::random::<u64>()));
        let entry = Entry { id: id.clone(), name: put.name, colour: put.colour, nodes, database };
        let mut next = book.clone();
        match next.teams.iter_mut().find(|each| each.id == id) {
            Some(found) => *found = entry.clone(),
            None => next.teams.push(entry.clone()),
        }
        if let Err(fault) = self.write(&next) {
            self.forget(fresh).await;
            return Err(fault);
        }
        *book = next;
        let mut gone = before.map(|before| before.secrets()).unwrap_or_default();
        let now = entry.secrets();
        gone.retain(|kept| !now.contains(kept));
        self.forget(gone).await;
        if book.current.as_ref() == Some(&id) && self.team().is_some() {
            let team = self.reach(&entry).await?;
            self.looked_at.send_replace(Some(Arc::new(team)));
        }
        Ok(id)
    }

    /// Forgets a team and its tokens; whoever looked at it looks at this machine.
    pub async fn remove(&self, id: &str) -> Result<(), Fault> {
        let mut book = self.book.lock().await;
        let entry = book.entry(id)?.clone();
        let mut next = book.clone();
        next.teams.retain(|each| each.id != id);
        let looked_at = next.current.as_deref() == Some(id);
        if looked_at {
            next.current = None;
        }
        self.write(&next)?;
        *book = next;
        if looked_at {
            self.looked_at.send_replace(None);
        }
        self.forget(entry.secrets()).await;
        let folder = self.folder.console(id);
        if let Err(error) = fs::remove_dir_all(&folder)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(%error, folder = %folder.display(), "what was kept of a team that is forgotten stays");
        }
        Ok(())
    }

    /// What each node of it says, and its database, as it would be after it were kept.
    pub async fn test(&self, put: &PutTeam) -> Result<Vec<TeamNodeTried>, Fault> {
        let before = match &put.id {
            Some(id) => Some(self.book.lock().await.entry(id)?.clone()),
            None => None,
        };
        match self.way(put, before.as_ref())? {
            Way::Nodes(written) => {
                let mut nodes = Vec::new();
                for (base, token) in written {
                    nodes.push(Node::given(base, self.told(token).await?));
                }
                Ok(Team::by_nodes(&put.name, nodes).test().await)
            }
            Way::Database(address, password) => {
                let password = match password {
                    Some(password) => Some(self.told(password).await?),
                    None => None,
                };
                let url = Secret(address::with_password(&address, password.as_ref().map(|one| one.0.as_str())));
                Ok(Lookout::test(&put.name, &address, self.folder.console("tried"), &url).await)
            }
        }
    }

    /// How it would be looked at.
    fn way(&self, put: &PutTeam, before: Option<&Entry>) -> Result<Way, Fault> {
        let Some(database) = &put.database else { return self.tokens(put, before).map(Way::Nodes) };
        if !put.nodes.is_empty() {
            let reason = Words::new(
                "a team is known by its nodes or by its database, not by both",
                "团队以节点或数据库之一登记，不能同时填写",
            );
            return Err(Code::BadRequest.fault().with_words("reason", &reason).at("database"));
        }
        let written = address::read_database(&database.address)?;
        let given = database.password.clone().filter(|password| !password.0.is_empty());
        let given = given.or(written.password.map(Secret)).map(Token::Given);
        let known = || {
            let known = before?.database.as_ref()?;
            let same = address::is_same_account(&known.address, &written.address);
            known.password.clone().filter(|_| same).map(Token::Kept)
        };
        Ok(Way::Database(written.address.clone(), given.or_else(known)))
    }

    /// A secret in its place; one that was put there just now is noted in `fresh`.
    async fn kept(&self, name: &str, secret: Token, fresh: &mut Vec<Kept>) -> Result<Kept, Fault> {
        match secret {
            Token::Kept(kept) => Ok(kept),
            Token::Given(secret) => {
                let kept = self.vault.keep(name, &secret.0).await.map_err(|reason| unkept(&reason))?;
                fresh.push(kept.clone());
                Ok(kept)
            }
        }
    }

    async fn told(&self, secret: Token) -> Result<Secret, Fault> {
        match secret {
            Token::Given(secret) => Ok(secret),
            Token::Kept(kept) => self.secret(&kept).await,
        }
    }

    /// Each node with the token that it would have.
    fn tokens(&self, put: &PutTeam, before: Option<&Entry>) -> Result<Vec<(String, Token)>, Fault> {
        let wrong = |en: &str, zh: &str| Code::BadRequest.fault().with_words("reason", &Words::new(en, zh)).at("nodes");
        if put.nodes.is_empty() {
            return Err(wrong("a team needs the address of a node", "请填写至少一个节点地址"));
        }
        if put.nodes.len() > MOST_NODES {
            return Err(wrong("a team may have 16 addresses here", "最多填写 16 个节点地址"));
        }
        let mut nodes: Vec<(String, Token)> = Vec::new();
        for node in &put.nodes {
            let written = address::read(&node.address)?;
            let given = node.token.clone().filter(|token| !token.0.is_empty()).or(written.token.map(Secret));
            let known =
                || before?.nodes.iter().find(|each| each.address == written.base).map(|each| each.token.clone());
            let token = match given {
                Some(token) => Token::Given(token),
                None => Token::Kept(known().ok_or_else(|| {
                    let reason = Words::new("its token is missing", "缺少令牌");
                    Code::TeamAddress.fault().with("address", &written.base).with_words("reason", &reason).at("nodes")
                })?),
            };
            if nodes.iter().all(|(address, _)| *address != written.base) {
                nodes.push((written.base, token));
            }
        }
        Ok(nodes)
    }

    async fn reach(&self, entry: &Entry) -> Result<Team, Fault> {
        if let Some(database) = &entry.database {
            let password = match &database.password {
                Some(password) => Some(self.secret(password).await?),
                None => None,
            };
            let password = password.as_ref().map(|password| password.0.as_str());
            let url = Secret(address::with_password(&database.address, password));
            let lookout = Lookout::on(&entry.name, self.folder.console(&entry.id), url);
            return Ok(Team::by_database(&entry.name, lookout));
        }
        let mut nodes = Vec::new();
        for node in &entry.nodes {
            nodes.push(Node::given(node.address.clone(), self.secret(&node.token).await?));
        }
        Ok(Team::by_nodes(&entry.name, nodes))
    }

    async fn secret(&self, kept: &Kept) -> Result<Secret, Fault> {
        self.vault.read(kept).await.map(Secret).map_err(|reason| unkept(&reason))
    }

    async fn forget(&self, tokens: Vec<Kept>) {
        for kept in tokens {
            if let Err(reason) = self.vault.forget(&kept).await {
                tracing::warn!(reason, "a token that nothing points to any more could not be taken away");
            }
        }
    }

    fn write(&self, book: &Book) -> Result<(), Fault> {
        let path = self.folder.teams();
        let text =
            serde_json::to_string_pretty(book).map_err(|error| Code::BadRequest.fault().with("reason", error))?;
        // Whole or as it was: a half would forget teams.
        let half = path.with_extension("json.part");
        let written = folder::write_private(&half, &text).and_then(|()| fs::rename(&half, &path));
        written.map_err(|error| folder::fault(&error, self.folder.root()))
    }
}

/// A token or a password.
enum Token {
    Given(Secret),
    Kept(Kept),
}

enum Way {
    /// Addresses with their tokens.
    Nodes(Vec<(String, Token)>),
    /// Its address, and the password of the account.
    Database(String, Option<Token>),
}

impl Entry {
    fn secrets(&self) -> Vec<Kept> {
        let password = self.database.as_ref().and_then(|database| database.password.clone());
        self.nodes.iter().map(|node| node.token.clone()).chain(password).collect()
    }
}

impl Book {
    fn entry(&self, id: &str) -> Result<&Entry, Fault> {
        self.teams.iter().find(|each| each.id == id).ok_or_else(|| Code::TeamUnknown.fault().with("team", id))
    }
}

fn check(put: &PutTeam, book: &Book) -> Result<(), Fault> {
    let wrong = |en: &str, zh: &str| Code::BadRequest.fault().with_words("reason", &Words::new(en, zh)).at("name");
    let name = &put.name;
    if name.is_empty() || name.trim() != name || name.chars().any(char::is_control) {
        return Err(wrong("a team needs a name, without spaces around it", "团队需要名称，且首尾不能有空格"));
    }
    if name.chars().count() > MOST_CHARACTERS {
        return Err(wrong("the name may have 64 characters", "名称最多 64 个字符"));
    }
    if book.teams.iter().any(|each| each.name == *name && Some(&each.id) != put.id.as_ref()) {
        return Err(Code::TeamNameTaken.fault().with("team", name).at("name"));
    }
    Ok(())
}

fn unkept(reason: &str) -> Fault {
    let words = Words::new(format!("the token is out of reach: {reason}"), format!("无法读写令牌：{reason}"));
    Code::BadRequest.fault().with_words("reason", &words)
}

fn read(path: &Path) -> std::io::Result<Book> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| std::io::Error::new(ErrorKind::InvalidData, format!("{}: {error}", path.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Book::default()),
        Err(error) => Err(error),
    }
}
