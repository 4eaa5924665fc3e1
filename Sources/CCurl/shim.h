#ifndef REDIAL_CCURL_SHIM_H
#define REDIAL_CCURL_SHIM_H

// The macros that check argument types are of no use to Swift, which calls the functions below.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <string.h>

struct ssl_st;

// The version at run time, one byte each for its three numbers.
static inline unsigned int redial_curl_version(void) { return curl_version_info(CURLVERSION_NOW)->version_num; }

// Swift cannot call variadic functions: one wrapper for each type of argument.

static inline CURLcode redial_curl_set_long(CURL *_Nonnull h, CURLoption o, long v) {
  return curl_easy_setopt(h, o, v);
}

static inline CURLcode redial_curl_set_offset(CURL *_Nonnull h, CURLoption o, curl_off_t v) {
  return curl_easy_setopt(h, o, v);
}

static inline CURLcode redial_curl_set_text(CURL *_Nonnull h, CURLoption o, const char *_Nullable v) {
  return curl_easy_setopt(h, o, v);
}

static inline CURLcode redial_curl_set_pointer(CURL *_Nonnull h, CURLoption o, const void *_Nullable v) {
  return curl_easy_setopt(h, o, v);
}

static inline CURLcode redial_curl_set_headers(CURL *_Nonnull h, struct curl_slist *_Nullable v) {
  return curl_easy_setopt(h, CURLOPT_HTTPHEADER, v);
}

// For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION.
typedef size_t (*redial_curl_sink)(char *_Nullable, size_t, size_t, void *_Nullable);

static inline CURLcode redial_curl_set_sink(CURL *_Nonnull h, CURLoption o, redial_curl_sink _Nonnull f) {
  return curl_easy_setopt(h, o, f);
}

// For CURLOPT_SEEKFUNCTION.
typedef int (*redial_curl_seeker)(void *_Nullable, curl_off_t, int);

static inline CURLcode redial_curl_set_seeker(CURL *_Nonnull h, redial_curl_seeker _Nonnull f) {
  return curl_easy_setopt(h, CURLOPT_SEEKFUNCTION, f);
}

// For CURLOPT_PREREQFUNCTION.
typedef int (*redial_curl_gate)(void *_Nullable, char *_Nullable, char *_Nullable, int, int);

static inline CURLcode redial_curl_set_gate(CURL *_Nonnull h, redial_curl_gate _Nonnull f) {
  return curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, f);
}

// For CURLOPT_DEBUGFUNCTION.
typedef int (*redial_curl_listener)(CURL *_Nullable, curl_infotype, char *_Nullable, size_t, void *_Nullable);

static inline CURLcode redial_curl_set_listener(CURL *_Nonnull h, redial_curl_listener _Nonnull f) {
  return curl_easy_setopt(h, CURLOPT_DEBUGFUNCTION, f);
}

// For CURLOPT_OPENSOCKETFUNCTION.
typedef curl_socket_t (*redial_curl_dialer)(void *_Nullable, curlsocktype, struct curl_sockaddr *_Nullable);

static inline CURLcode redial_curl_set_dialer(CURL *_Nonnull h, redial_curl_dialer _Nonnull f) {
  return curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, f);
}

// For CURLOPT_RESOLVER_START_FUNCTION.
typedef int (*redial_curl_resolver)(void *_Nullable, void *_Nullable, void *_Nullable);

static inline CURLcode redial_curl_set_resolver(CURL *_Nonnull h, redial_curl_resolver _Nonnull f, void *_Nonnull p) {
  CURLcode code = curl_easy_setopt(h, CURLOPT_RESOLVER_START_FUNCTION, f);
  return code == CURLE_OK ? curl_easy_setopt(h, CURLOPT_RESOLVER_START_DATA, p) : code;
}

// For CURLOPT_RESOLVE.
static inline CURLcode redial_curl_set_addresses(CURL *_Nonnull h, struct curl_slist *_Nullable v) {
  return curl_easy_setopt(h, CURLOPT_RESOLVE, v);
}

// For CURLOPT_CLOSESOCKETFUNCTION.
typedef int (*redial_curl_closer)(void *_Nullable, curl_socket_t);

static inline CURLcode redial_curl_set_closer(CURL *_Nonnull h, redial_curl_closer _Nonnull f, void *_Nonnull p) {
  CURLcode code = curl_easy_setopt(h, CURLOPT_CLOSESOCKETFUNCTION, f);
  return code == CURLE_OK ? curl_easy_setopt(h, CURLOPT_CLOSESOCKETDATA, p) : code;
}

// What CURLOPT_PRIVATE was set to.
static inline void *_Nullable redial_curl_get_private(CURL *_Nonnull h) {
  void *v = NULL;
  return curl_easy_getinfo(h, CURLINFO_PRIVATE, &v) == CURLE_OK ? v : NULL;
}

static inline long redial_curl_get_long(CURL *_Nonnull h, CURLINFO i) {
  long v = 0;
  return curl_easy_getinfo(h, i, &v) == CURLE_OK ? v : 0;
}

static inline curl_off_t redial_curl_get_offset(CURL *_Nonnull h, CURLINFO i) {
  curl_off_t v = 0;
  return curl_easy_getinfo(h, i, &v) == CURLE_OK ? v : 0;
}

// Owned by the handle; valid until the handle's next use. NULL for none.
static inline const char *_Nullable redial_curl_get_text(CURL *_Nonnull h, CURLINFO i) {
  char *v = NULL;
  return curl_easy_getinfo(h, i, &v) == CURLE_OK ? v : NULL;
}

// From OpenSSL's libraries, which libcurl's TLS is made of; nothing else of them is needed.
struct x509_st;
int SSL_has_pending(const struct ssl_st *_Nonnull);
void SSL_set_info_callback(struct ssl_st *_Nonnull, void (*_Nullable)(const struct ssl_st *_Nonnull, int, int));
void SSL_set_msg_callback(
    struct ssl_st *_Nonnull,
    void (*_Nullable)(int isWritten, int version, int type, const void *_Nullable, size_t, struct ssl_st *_Nonnull, void *_Nullable));
int SSL_set_ex_data(struct ssl_st *_Nonnull, int, void *_Nullable);
void *_Nullable SSL_get_ex_data(const struct ssl_st *_Nonnull, int);
int CRYPTO_get_ex_new_index(int, long, void *_Nullable, void *_Nullable, void *_Nullable, void *_Nullable);
struct x509_st *_Nullable SSL_get1_peer_certificate(const struct ssl_st *_Nonnull);
int X509_get_ext_by_NID(const struct x509_st *_Nonnull, int, int);
void X509_free(struct x509_st *_Nullable);

// The TLS session of the handle's connection; NULL for none.
static inline struct ssl_st *_Nullable redial_curl_tls(CURL *_Nonnull h) {
  struct curl_tlssessioninfo *tls = NULL;
  if (curl_easy_getinfo(h, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || !tls) return NULL;
  return tls->backend == CURLSSLBACKEND_OPENSSL ? (struct ssl_st *)tls->internals : NULL;
}

// A place for a pointer in each TLS session, beside those of libcurl; -1 for none. Each call makes one.
static inline int redial_tls_new_place(void) { return CRYPTO_get_ex_new_index(0, 0, NULL, NULL, NULL, NULL); }

void SSL_get0_alpn_selected(const struct ssl_st *_Nonnull, const unsigned char *_Nullable *_Nonnull, unsigned int *_Nonnull);

// Whether the target has chosen a protocol in the handshake of TLS (RFC 7301), of what it was offered.
static inline int redial_curl_has_chosen(CURL *_Nonnull h, const char *_Nonnull protocol) {
  struct ssl_st *session = redial_curl_tls(h);
  const unsigned char *name = NULL;
  unsigned int length = 0;
  if (session) SSL_get0_alpn_selected(session, &name, &length);
  return name && length == strlen(protocol) && !memcmp(name, protocol, length);
}

// Whether the target's certificate says whom it is for as it must, in its extension subjectAltName (RFC 9525 section 6.3):
// libcurl would take the common name of one that has none.
static inline int redial_curl_has_alternative_names(CURL *_Nonnull h) {
  struct ssl_st *session = redial_curl_tls(h);
  struct x509_st *certificate = session ? SSL_get1_peer_certificate(session) : NULL;
  const int subject_alt_name = 85;
  int found = !certificate || X509_get_ext_by_NID(certificate, subject_alt_name, -1) >= 0;
  X509_free(certificate);
  return found;
}

// Whether TLS has read bytes of the handle's connection that nobody has taken from it. With 8.22, OpenSSL reads ahead, so
// they are no longer to be seen at the socket.
static inline int redial_curl_holds_input(CURL *_Nonnull h) {
  struct ssl_st *session = redial_curl_tls(h);
  return session && SSL_has_pending(session);
}

// For CURLMOPT_SOCKETFUNCTION and CURLMOPT_TIMERFUNCTION, both with the same pointer for their last argument but one.
typedef int (*redial_curl_watcher)(
    CURL *_Nullable, curl_socket_t, int, void *_Nullable, void *_Nullable);
typedef int (*redial_curl_timer)(CURLM *_Nullable, long, void *_Nullable);

static inline CURLMcode redial_curl_multi_set_events(
    CURLM *_Nonnull m, redial_curl_watcher _Nonnull watcher, redial_curl_timer _Nonnull timer, void *_Nullable p) {
  CURLMcode code = curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, watcher);
  if (code == CURLM_OK) code = curl_multi_setopt(m, CURLMOPT_SOCKETDATA, p);
  if (code == CURLM_OK) code = curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, timer);
  if (code == CURLM_OK) code = curl_multi_setopt(m, CURLMOPT_TIMERDATA, p);
  return code;
}

static inline CURLMcode redial_curl_multi_set_long(CURLM *_Nonnull m, CURLMoption o, long v) {
  return curl_multi_setopt(m, o, v);
}

// A transfer that has ended, or NULL when there is none left.
static inline CURL *_Nullable redial_curl_multi_next_done(CURLM *_Nonnull m, CURLcode *_Nonnull code) {
  int left;
  CURLMsg *message;
  while ((message = curl_multi_info_read(m, &left)))
    if (message->msg == CURLMSG_DONE) {
      *code = message->data.result;
      return message->easy_handle;
    }
  return NULL;
}

#endif
