extension ProblemCode {
  /// Its meaning.
  public var declaration: ProblemDeclaration {
    switch self {
    case .badRequest:
      ProblemDeclaration(
        .requests, 400, 408, 413, 414, 417, 431, 501, 503, 505, title: "The request cannot be served",
        cause:
          "The request is not HTTP/1.1 as the service reads it, or too large, too slow, or one too many at once; "
          + "`detail` says which.",
        remedy:
          "Correct the request. With 413 or 431 send less, or raise `maxBodyBytes`. With 408 "
          + "or 503 send it again.")
    case .methodNotAllowed:
      ProblemDeclaration(
        .requests, 405, title: "The method is not allowed here",
        cause: "The path has no operation of this method.",
        remedy: "Use a method that the field `Allow` lists.")
    case .notFound:
      ProblemDeclaration(
        .requests, 404, title: "There is nothing here",
        cause: "The path is none of the API's, or the id or name in it is not in the form of one.",
        remedy: "Compare the path with `/openapi.yaml`, and the id with a list of its kind.")
    case .invalidJSON:
      ProblemDeclaration(
        .requests, 400, title: "The request body is not valid JSON",
        cause: "The body cannot be read as JSON.",
        remedy: "Correct the text at the byte that `detail` names.")
    case .bodyTooLarge:
      ProblemDeclaration(
        .requests, 413, title: "The body is too large",
        cause: "The body of a call, or a line of a batch, is longer than `maxBodyBytes`.",
        remedy: "Send less, or raise `maxBodyBytes`.")
    case .invalidParameter:
      ProblemDeclaration(
        .requests, 400, title: "A query parameter cannot be used",
        cause: "A query parameter is unknown, repeated, out of range or not percent-encoded UTF-8.",
        remedy: "Correct or leave out the parameter that `errors` names.")
    case .unsupportedMediaType:
      ProblemDeclaration(
        .requests, 415, title: "The media type is not supported",
        cause: "The body is not declared as JSON.",
        remedy: "Send JSON, with `Content-Type: application/json`.")
    case .unsupportedContentCoding:
      ProblemDeclaration(
        .requests, 415, title: "The content coding is not supported",
        cause: "The body has another `Content-Encoding` than gzip or deflate, or more than one.",
        remedy: "Send the body as it is, or with one of the codings in `Accept-Encoding`.")
    case .preconditionFailed:
      ProblemDeclaration(
        .requests, 412, title: "The conditions of the request are not met",
        cause: "`If-Match` or `If-None-Match` does not fit what is stored: somebody else has changed it.",
        remedy: "Get it again, apply your change to that, and send it with the new `ETag`.")
    case .invalidAttribution:
      ProblemDeclaration(
        .requests, 422, title: "The name or reason is not valid",
        cause: "The person (`by`, `Redial-Actor`) or the reason of a command is too long, or has control characters.",
        remedy: "Shorten what `errors` names.")
    case .crossSiteRequest:
      ProblemDeclaration(
        .requests, 403, title: "The request comes from a page of another origin",
        cause: "A browser says that a web page of another site made the request.",
        remedy: "Name the page's origin in `corsOrigins`, and let it send an API key; or call from a server.")
    case .hostNotAllowed:
      ProblemDeclaration(
        .requests, 421, title: "The service does not answer to this host name",
        cause:
          "While no API key is needed, the service answers only to addresses, `localhost` and the names in "
          + "`allowedHosts`, so that no web page reaches it by a name of its own.",
        remedy: "Add the host name to `allowedHosts`, or make an API key.")
    case .hostEmpty:
      ProblemDeclaration(
        .requests, 400, title: "The field Host is empty",
        cause: "The client has sent an empty `Host`.",
        remedy: "Send the host and port of the URL. If clients cannot, set `allowedHosts` to `*`.")
    case .forwardNotDeliberate:
      ProblemDeclaration(
        .requests, 403, title: "A web page could have made this request",
        cause:
          "While no API key is needed, a GET or HEAD to be forwarded has no field that shows that no web page "
          + "made it.",
        remedy: "Send `Prefer`, `Idempotency-Key` or a field that begins with `Redial-`; or make an API key.")
    case .missingAPIKey:
      ProblemDeclaration(
        .keys, 401, title: "An API key is needed",
        cause: "The service has API keys, and the request has none.",
        remedy: "Send `Authorization: Bearer rdl_…`. For `redial`, set `REDIAL_API_KEY`.")
    case .invalidAPIKey:
      ProblemDeclaration(
        .keys, 401, title: "The API key is not valid",
        cause: "The key in `Authorization` does not exist, or was revoked.",
        remedy: "Send another one; `redial keys create` makes it.")
    case .insufficientScope:
      ProblemDeclaration(
        .keys, 403, title: "The API key does not allow this",
        cause: "The key lacks the scope that the request needs.",
        remedy: "Use a key with the scope that `detail` names.")
    case .untrustedUser:
      ProblemDeclaration(
        .keys, 403, title: "Nobody believes who has signed in",
        cause:
          "A request names a person (`trustedUserHeader`), and is not of a proxy in `trustedProxies`, or names several.",
        remedy: "Send it by the proxy, which removes the field of its clients, or leave the field out.")
    case .userNotAdmitted:
      ProblemDeclaration(
        .keys, 403, title: "The person is in no group that may use the service",
        cause: "The proxy has signed the person in, and `groupScopes` gives none of the person's groups a scope.",
        remedy: "Add a group to `groupScopes`, or the person to one that it names.")
    case .operatorsOnly:
      ProblemDeclaration(
        .keys, 403, title: "Only operators may do this",
        cause: "The request concerns all namespaces, and the key is of one.",
        remedy: "Use the `adminKey`, or a key of the namespace `default`.")
    case .otherNamespace:
      ProblemDeclaration(
        .keys, 403, title: "The API key is of another namespace",
        cause: "A key acts in its own namespace only, and makes keys of that only.",
        remedy: "Use a key of the other namespace, or the `adminKey`; or leave `Redial-Namespace` out.")
    case .invalidNamespace:
      ProblemDeclaration(
        .keys, 400, title: "The namespace is not valid",
        cause: "The value of `Redial-Namespace` cannot be the name of a namespace.",
        remedy: "Correct the name as `detail` says.")
    case .quotaExceeded:
      ProblemDeclaration(
        .keys, 429, title: "The quota of the API key is used up",
        cause: "The key has sent more requests in this minute than its quota allows.",
        remedy: "Wait for as long as `Retry-After` says, or make a key with a larger quota.")
    case .apiKeyNotFound:
      ProblemDeclaration(
        .keys, 404, title: "There is no such API key",
        cause: "No key has this id in the namespace, or no longer.",
        remedy: "Look the id up: `redial keys list`.")
    case .invalidAPIKeyDraft:
      ProblemDeclaration(
        .keys, 422, title: "The API key cannot be made",
        cause: "Members of the new key are unknown, missing or not valid.",
        remedy: "Correct what `errors` names.")
    case .firstKeyMustBeAdmin:
      ProblemDeclaration(
        .keys, 409, title: "The first API key must have the scope admin in the default namespace",
        cause: "From the first key on each request needs one, and nobody could make another.",
        remedy: "Make a key with the scope `admin` in the namespace `default` first.")
    case .tooManyAPIKeys:
      ProblemDeclaration(
        .keys, 409, title: "There are too many API keys",
        cause: "The namespace has as many keys as are kept, or the service has.",
        remedy: "Revoke keys that are not needed.")
    case .noRandomness:
      ProblemDeclaration(
        .keys, 503, title: "The system has no random bytes to give",
        cause: "The operating system gave no random bytes for a secret.",
        remedy: "Try again. If it stays so, look at the machine.")
    case .invalidDescriptor:
      ProblemDeclaration(
        .calls, 422, title: "The call descriptor cannot be accepted",
        cause:
          "Members of a call, or of the changes for a replay, are unknown, missing or not valid. Nothing was "
          + "stored.",
        remedy: "Correct what `errors` names. A dry run (`?dryRun=true`) checks a call without storing it.")
    case .invalidOption:
      ProblemDeclaration(
        .calls, 422, title: "A Redial field cannot be used",
        cause: "A field `Redial-…` of a forwarded request is unknown, repeated or not valid.",
        remedy: "Correct or leave out the field that `errors` names.")
    case .invalidBatch:
      ProblemDeclaration(
        .calls, 422, 413, title: "The batch cannot be accepted",
        cause: "A batch has no calls, or (413) more than 1,000.",
        remedy: "Send at least one call. Divide a large batch, or send it in lines (`application/x-ndjson`).")
    case .invalidIdempotencyKey:
      ProblemDeclaration(
        .calls, 400, title: "The Idempotency-Key is not valid",
        cause: "The key is empty, too long, or has other characters than visible ASCII.",
        remedy: "Send a string of 1 to 255 visible ASCII characters, such as a UUID.")
    case .idempotencyKeyReused:
      ProblemDeclaration(
        .calls, 422, title: "The Idempotency-Key was used for another call",
        cause: "Another descriptor was submitted under the key.",
        remedy: "Use a new key for a new call. To repeat a submission, send it as it was.")
    case .tooManyHops:
      ProblemDeclaration(
        .calls, 508, title: "The call goes round in a circle",
        cause:
          "The submission comes from the attempt of a call that was submitted by an attempt, and so on, too "
          + "often.",
        remedy: "Look where the URLs of these calls lead: they lead back to Redial.")
    case .callNotFound:
      ProblemDeclaration(
        .calls, 404, title: "There is no such call",
        cause: "No call has this id in the namespace, or it was removed after `retentionTime`.",
        remedy: "Look the id up in the list of calls.")
    case .callEnded:
      ProblemDeclaration(
        .calls, 409, title: "The call has ended",
        cause:
          "The command is only for a call that goes on; or the call has ended anew since a bulk operation was "
          + "accepted.",
        remedy: "Nothing, if the end is what you want. To send it once more, retry or replay it.")
    case .callNotEnded:
      ProblemDeclaration(
        .calls, 409, title: "The call has not ended",
        cause: "The command is only for a call that has ended.",
        remedy: "Wait for its end, or cancel it first.")
    case .callRunning:
      ProblemDeclaration(
        .calls, 409, title: "The call is running",
        cause: "An attempt of the call is in flight.",
        remedy: "Wait for the attempt's end, or cancel the call.")
    case .contentErased:
      ProblemDeclaration(
        .calls, 409, title: "The call's content was erased",
        cause: "The request of the call was erased, so that it cannot be sent again.",
        remedy: "Submit a new call with the whole request.")
    case .notReplayable:
      ProblemDeclaration(
        .calls, 409, title: "The call cannot be replayed",
        cause: "The call is the delivery of a webhook.",
        remedy: "Retry it, which delivers it again.")
    case .callDamaged:
      ProblemDeclaration(
        .calls, 409, title: "The call is damaged",
        cause: "The store's data of the call cannot be read. Other calls go on.",
        remedy:
          "Keep a copy of the store. `redial doctor` names all such calls; purge the call when it is not needed "
          + "any more.")
    case .callRemoved:
      ProblemDeclaration(
        .calls, 503, title: "The repeated call was just removed",
        cause: "The call that was accepted under the same `Idempotency-Key` was removed while it was read.",
        remedy: "Submit again.")
    case .backlogFull:
      ProblemDeclaration(
        .service, 503, title: "The backlog is full",
        cause: "As many calls have not ended as `maxUnfinished` allows.",
        remedy: "Try again later. Look why calls do not end: `redial status`. Or raise `maxUnfinished`.")
    case .namespaceBacklogFull:
      ProblemDeclaration(
        .service, 503, title: "The backlog of the namespace is full",
        cause: "As many calls of the namespace have not ended as `namespaceShare` of `maxUnfinished` allows.",
        remedy: "Try again later. Look at the namespace's targets, or raise `namespaceShare`.")
    case .starting:
      ProblemDeclaration(
        .service, 503, title: "The service is starting",
        cause: "The service has still to take over what is stored. Nothing was done.",
        remedy: "Send the request again after the time in `Retry-After`. `/readyz` says when the service is ready.")
    case .draining:
      ProblemDeclaration(
        .service, 503, title: "The service is stopping",
        cause: "While the service stops it accepts no new calls and changes nothing.",
        remedy: "Send the request again, to another instance if there is one.")
    case .notReady:
      ProblemDeclaration(
        .service, 503, title: "The service is not ready",
        cause: "The service cannot accept calls now; `detail` says why.",
        remedy: "Repair what `detail` names. Accepted calls are kept.")
    case .storageFull:
      ProblemDeclaration(
        .service, 507, title: "The store has no room",
        cause: "The disk of the store is full. Accepted calls are kept.",
        remedy: "Free space, or enlarge the disk; then try again.")
    case .storageUnavailable:
      ProblemDeclaration(
        .service, 503, title: "The store cannot be used",
        cause: "The store cannot be read, written or reached, or its files are not in their place. Nothing was done.",
        remedy: "Try again. If it stays so, see the log, and `redial doctor`.")
    case .outcomeUnknown:
      ProblemDeclaration(
        .service, 503, title: "It is not known whether this was done",
        cause: "The store, or the instance that has the target, got the request and did not answer.",
        remedy:
          "Send a submission again under the same `Idempotency-Key`. Otherwise look whether the change was made.")
    case .leaseLost:
      ProblemDeclaration(
        .service, 503, title: "This instance may not write",
        cause:
          "Another process has taken over the instance's lease on the store. The change may or may not have been "
          + "made.",
        remedy: "Check, then try again. On SQLite, stop this process: its lock was deleted.")
    case .tooManyQueries:
      ProblemDeclaration(
        .service, 503, title: "Too many queries are waiting",
        cause: "More lists and look-ups wait than the service takes at once.",
        remedy: "Try again in a moment, with fewer requests at a time.")
    case .targetNotFound:
      ProblemDeclaration(
        .targets, 404, title: "There is no such target",
        cause:
          "No call to the target has been seen since the service started, and it has no settings. Or its key is "
          + "another: the target of a call is its URL's origin, unless the call names one.",
        remedy: "Take the key from `GET /v1/targets`, percent-encoded: `/v1/targets/https%3A%2F%2Fapi.example.com`.")
    case .invalidTarget:
      ProblemDeclaration(
        .targets, 422, title: "The target's key is not valid",
        cause: "The key in the path is too long, has control characters, or is not in the normalization form NFC.",
        remedy: "Use the key that calls to the target have.")
    case .invalidTargetSettings:
      ProblemDeclaration(
        .targets, 422, title: "The target's settings cannot be accepted",
        cause: "Settings are unknown, not valid, or do not go together. Nothing was changed.",
        remedy: "Correct what `errors` names.")
    case .tooManyTargets:
      ProblemDeclaration(
        .targets, 503, 409, title: "There are too many targets",
        cause:
          "As many targets are in use as the service remembers. With 409 settings would add one, with 503 a call.",
        remedy:
          "Try again later. Let calls that belong together name one `target`, or remove settings that are not "
          + "needed.")
    case .policyNotFound:
      ProblemDeclaration(
        .policies, 404, title: "There is no such policy",
        cause: "No policy has this name in the namespace, or it has not this version any more.",
        remedy: "Look it up: `redial policies list`.")
    case .invalidPolicy:
      ProblemDeclaration(
        .policies, 422, title: "The policy cannot be accepted",
        cause: "Members of a policy, or of the request to preview one, are unknown or not valid.",
        remedy: "Correct what `errors` names.")
    case .policyTooLarge:
      ProblemDeclaration(
        .policies, 413, title: "The policy is too long",
        cause: "The text of the policy has more bytes than are kept.",
        remedy: "Shorten it.")
    case .tooManyPolicies:
      ProblemDeclaration(
        .policies, 409, title: "There are too many policies",
        cause: "The namespace has as many policies as are kept.",
        remedy: "Delete one that is not needed.")
    case .tooManyPreviews:
      ProblemDeclaration(
        .policies, 503, title: "Too many previews of this API key are waiting",
        cause: "The key waits for as many previews and dry runs as it may.",
        remedy: "Wait for their answers first.")
    case .previewsFull:
      ProblemDeclaration(
        .policies, 503, title: "Too many previews are waiting",
        cause: "All keys together wait for as many previews and dry runs as they may.",
        remedy: "Try again in a moment.")
    case .invalidOperation:
      ProblemDeclaration(
        .operations, 422, title: "The operation cannot be accepted",
        cause:
          "Members of a bulk operation are unknown, missing or not valid, or its filter selects nothing in "
          + "particular.",
        remedy: "Correct what `errors` names.")
    case .operationNotFound:
      ProblemDeclaration(
        .operations, 404, title: "There is no such operation",
        cause: "No operation has this id in the namespace, or it has ended and was forgotten.",
        remedy: "Look it up: `redial ops list`.")
    case .operationEnded:
      ProblemDeclaration(
        .operations, 409, title: "The operation has ended",
        cause: "The operation is completed, and cannot be cancelled any more.",
        remedy: "Nothing. What it did stays.")
    case .tooManyOperations:
      ProblemDeclaration(
        .operations, 409, title: "Too many bulk operations run",
        cause: "As many operations of the namespace run as may at a time.",
        remedy: "Wait for one to end, or cancel one.")
    case .invalidWebhookEndpoint:
      ProblemDeclaration(
        .webhooks, 422, title: "The webhook endpoint cannot be accepted",
        cause: "Members of the endpoint are unknown, missing or not valid.",
        remedy: "Correct what `errors` names.")
    case .invalidRotation:
      ProblemDeclaration(
        .webhooks, 422, title: "The rotation cannot be accepted",
        cause: "Members of the request for a new secret are unknown or not valid.",
        remedy: "Correct what `errors` names.")
    case .webhookEndpointNotFound:
      ProblemDeclaration(
        .webhooks, 404, title: "There is no such webhook endpoint",
        cause: "No endpoint has this id in the namespace.",
        remedy: "Look it up: `redial webhooks list`.")
    case .webhookEndpointDisabled:
      ProblemDeclaration(
        .webhooks, 409, title: "The webhook endpoint is disabled",
        cause: "The endpoint is disabled, so that no test can be delivered.",
        remedy: "Repair its receiver, and enable it: PUT it with `\"enabled\": true`.")
    case .tooManyWebhookEndpoints:
      ProblemDeclaration(
        .webhooks, 409, title: "There are too many webhook endpoints",
        cause: "The namespace has 100 endpoints, which is the maximum.",
        remedy: "Delete one that is not needed.")
    case .tooManyListeners:
      ProblemDeclaration(
        .webhooks, 503, title: "Too many clients listen",
        cause:
          "As many clients listen to events as may at a time, or those of as many namespaces; or the service "
          + "stops.",
        remedy: "Try again later. Close connections that nobody reads.")
    case .issueNotFound:
      ProblemDeclaration(
        .issues, 404, title: "There is no such issue",
        cause: "The issue is not there any more, and nobody has made a statement about it.",
        remedy: "Look it up: `redial issues`.")
    case .invalidIssue:
      ProblemDeclaration(
        .issues, 422, title: "The issue cannot be changed like that",
        cause: "Members of the change are unknown, missing or not valid.",
        remedy: "Correct what `errors` names.")
    case .issueNotResolved:
      ProblemDeclaration(
        .issues, 409, title: "The issue is still there",
        cause:
          "Only failed calls can be done with by hand. Every other issue is over when what it says is not so any more.",
        remedy: "Acknowledge it, or look at its target.")
    case .credentialNotFound:
      ProblemDeclaration(
        .targets, 404, title: "There is no such credential",
        cause: "No credential has this name in the namespace.",
        remedy: "Look it up: `redial credentials list`.")
    case .invalidCredential:
      ProblemDeclaration(
        .targets, 422, title: "The credential cannot be accepted",
        cause: "Members of the credential are unknown, missing or not valid, or do not go together.",
        remedy: "Correct what `errors` names.")
    case .tooManyCredentials:
      ProblemDeclaration(
        .targets, 409, title: "There are too many credentials",
        cause: "The namespace has as many credentials as are kept.",
        remedy: "Delete one that is not needed.")
    case .noEncryptionKey:
      ProblemDeclaration(
        .targets, 409, title: "There is no key to encrypt secrets with",
        cause:
          "Secrets are never stored in clear text, and several instances on PostgreSQL have no file beside the store.",
        remedy:
          "Set `encryptionKeyFile` to the same file for all instances, or for callbacks `webhookSecret`, and start them again."
      )
    case .alertNotFound:
      ProblemDeclaration(
        .issues, 404, title: "There is no such alert",
        cause: "No alert has this name in the namespace.",
        remedy: "Look it up: `redial alerts list`.")
    case .invalidAlert:
      ProblemDeclaration(
        .issues, 422, title: "The alert cannot be accepted",
        cause: "Members of the alert are unknown, missing or not valid, or its webhook endpoint does not exist.",
        remedy: "Correct what `errors` names.")
    case .tooManyAlerts:
      ProblemDeclaration(
        .issues, 409, title: "There are too many alerts",
        cause: "The namespace has as many alerts as are kept.",
        remedy: "Delete one that is not needed.")
    case .alertWithoutReceiver:
      ProblemDeclaration(
        .issues, 409, title: "The alert has no receiver",
        cause: "The webhook endpoint of the alert was deleted, so that no test can be sent.",
        remedy: "Let the alert name an endpoint that exists, or a URL.")
    case .invalidChange:
      ProblemDeclaration(
        .issues, 422, title: "This cannot be changed like that",
        cause: "Members of a silence are unknown, missing or not valid.",
        remedy: "Correct what `errors` names.")
    case .ownedElsewhere:
      ProblemDeclaration(
        .instances, 503, title: "Another instance has this target",
        cause:
          "The calls to the target are run by another instance, which could not be reached, or by none for the "
          + "moment.",
        remedy: "Try again, or ask the other instance.")
    case .leaderUnreachable:
      ProblemDeclaration(
        .instances, 503, title: "Another instance has to do this",
        cause:
          "The instance that changes policies, keys, endpoints, alerts and operations did not answer. It may have "
          + "made the change.",
        remedy: "Look whether it has, or try again.")
    case .instanceUnreachable:
      ProblemDeclaration(
        .instances, 503, title: "An instance did not answer",
        cause: "Each instance knows the targets whose calls it runs, and one of them could not be asked.",
        remedy: "Try again.")
    case .notAPeer:
      ProblemDeclaration(
        .instances, 403, title: "The request is not of an instance on this store",
        cause: "The request has fields that only instances on one store send each other, and is of none of them.",
        remedy: "Send no field that begins with `Redial-Forwarded`.")
    case .invalidForward:
      ProblemDeclaration(
        .instances, 400, title: "The message of another instance cannot be read",
        cause:
          "One instance has sent another one a message that this does not read; they may be of different "
          + "versions. No client sees it.",
        remedy: "Nothing: the other instance does without. Bring all instances to one version.")
    case .forwardedTooLate:
      ProblemDeclaration(
        .instances, 503, title: "The call came too late, or twice",
        cause:
          "A call that one instance passed to another came after the first had stopped to wait. No client sees "
          + "it.",
        remedy: "Nothing: the instance that passed it on stores it itself.")
    case .callInMemory:
      ProblemDeclaration(
        .instances, 409, title: "The call is in memory",
        cause: "An instance was asked to take over a call that it has already. No client sees it.",
        remedy: "Nothing.")
    }
  }
}
