/** The description of the OpenAPI document. Markdown. */
export const ABOUT = `Opens cloud firewalls to people and CI jobs for a limited time.

A session allows the caller's address on cloud resources and removes it when it ends. Rules are applied and removed in
the background: read the session to follow their status.

## The first five calls

1. \`POST /auth/register\` makes an organization and signs you in: the following calls send its \`accessToken\`. People who
   were invited send \`POST /auth/login\` and go on with 5.
2. \`POST /credentials\` stores what the cloud accepts. \`GET /resources/types\` names the fields of each provider.
3. \`POST /resources\` names a security group, a firewall or a host, and its ports; \`POST /resources/{id}/verify\` asks
   the cloud whether the credential may change it.
4. \`POST /roles\` with \`resourceIds\` and \`userIds\` says who may open it.
5. \`POST /sessions\` opens it to your address: \`?waitSeconds=30\` answers when that is done. \`POST /sessions/{id}/stop\` closes it.

The [command line](/downloads/drawbridge.mjs) does the same in words.

## Authentication

Users send \`Authorization: Bearer <access token>\`. Pipelines send \`X-API-Key: <key>\` or
\`Authorization: ApiKey <key>\` to operations that accept API keys; each of them names the required scope. A CI job needs no key: it exchanges its ID token
with \`POST /auth/oidc/exchange\` for an access token, which works where API keys work.
A session with a lease has a token of its own (\`Authorization: Session <token>\`), which reads, renews and stops this session only. A caller sees
and changes only objects of its own organization; objects of other organizations are answered with 404.

## Requests

Bodies are JSON objects of at most 100 kB. Unknown fields are ignored, except in a resource’s config and where they ask to change nothing (\`dryRun\`): refused by operations without that parameter. Ids are UUIDs, times are ISO 8601 in UTC,
addresses are in canonical notation. Lists are paginated (\`page\` from 0, \`size\` up to 100), with the total in
\`X-Total-Count\` and the adjacent pages in \`Link\`; audit logs and health events are page objects with the same data.

## Plans

A new organization is on the Free plan: sessions of at most 4 hours, 5 resources, 5 users
(invited and deactivated ones included), no API keys except for agents. Paid: 24 hours, any number of resources and users, keys with every scope. Administrators change plans with
\`POST /billing/subscribe\`; \`GET /billing/plans\` lists prices.

## Errors

Under \`/resources\`, \`/credentials\`, \`/static-ip-rules\`, \`/organization/settings\` and \`/billing\` an error body has
a machine-readable code: \`error\`, \`message\`, \`timestamp\`. Elsewhere it has \`timestamp\`, \`status\`, \`error\`,
\`message\`, \`path\`, and \`validationErrors\` for invalid fields: one message per field, which follows the field's name.
For an API key without the required scope, the body has only \`error\` and \`message\`.

An unknown path is answered with 404; a known path with another method with 405 and the allowed methods in \`Allow\`.
Retry after 429, 500 and 503 with increasing delays; for 429 and 503 \`Retry-After\` gives the delay.

## Limits

Requests are counted in windows of one minute: those with a credential per client address and credential, so that callers
behind one address do not use up each other's; those with a session token per session; sign-ins and requests without a
credential per client address. Every counted response has the headers \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and
\`X-RateLimit-Reset\`. What closes or keeps access is not counted: stop, renew and every DELETE without dryRun; nor are health checks, these
pages and webhooks, as long as an address asks each less than 600 times a minute. A response with 429 closes its connection. \`detect-ip\` is counted apart; agents are counted by API key; password attempts and registrations have
lower limits. An address that has sent as many refused credentials is refused until its window ends. An IPv6 client is
counted by its /64, and by its /48 with ten times the limit.`;
