//! The way to a node whose certificate is known beforehand: by its fingerprint, from the node's row.
//!
//! Exactly that certificate is trusted, whoever signed it, whatever names stand in it and whenever it ends; that the node
//! has its key is still proved in each handshake. Without a fingerprint there is no TLS, and the way leads to this
//! machine alone.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use sha2::{Digest as _, Sha256};

/// SHA-256 of a certificate in hex, as it stands in a node's row.
pub fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    Sha256::digest(certificate).iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// `https://host:port`, or `http://` where there is no fingerprint.
pub fn base(address: &str, fingerprint: Option<&str>) -> String {
    let scheme = if fingerprint.is_some() { "https" } else { "http" };
    format!("{scheme}://{address}")
}

/// What the handshake goes by, for requests and for WebSockets alike.
pub fn tls(fingerprint: &str) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let pinned = Pinned { fingerprint: fingerprint.to_lowercase(), provider: provider.clone() };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// A client for one node.
pub fn client(
    fingerprint: Option<&str>,
    connects_within: Duration,
) -> Result<Client, Box<dyn std::error::Error + Send + Sync>> {
    let client = Client::builder().connect_timeout(connects_within).redirect(Policy::none()).no_proxy();
    Ok(match fingerprint {
        Some(fingerprint) => client.tls_backend_preconfigured(ClientConfig::clone(&*tls(fingerprint)?)).build()?,
        None => client.build()?,
    })
}

#[derive(Debug)]
struct Pinned {
    fingerprint: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match fingerprint(end_entity) == self.fingerprint {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
