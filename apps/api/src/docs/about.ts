/** What every reader of the document needs to know once. Markdown. */
export const ABOUT = `Lets people and CI jobs through cloud firewalls for a limited time.

A session opens the caller's address on cloud resources and closes it again when it ends. Rules are applied and removed
in the background: read the session to follow them.

## Who calls

People send \`Authorization: Bearer <access token>\`. Pipelines send \`X-API-Key: <key>\` or
\`Authorization: ApiKey <key>\`, where an operation takes keys; it names the scope it needs. Everything a caller sees and
changes belongs to the caller's organization; an object of another one does not exist for it: 404.

## Requests

Bodies are JSON objects of at most 100 kB. Fields nobody knows are ignored, but those of a resource’s config. Ids are UUIDs, times are ISO 8601 in UTC,
addresses are in canonical notation. Lists come in pages (\`page\` from 0, \`size\` up to 100) and tell the total in
\`X-Total-Count\` and the pages beside them in \`Link\`; audit logs and health events are page objects that hold the same.

## Plans

A new organization is on the Free plan: sessions of at most 4 hours, 5 resources, 5 users, no API keys but those of
agents. Paid: 24 hours, any number of resources and users, keys with every scope. Administrators change plans with
\`POST /billing/subscribe\`; \`GET /billing/plans\` tells prices.

## Errors

Under \`/resources\`, \`/credentials\`, \`/static-ip-rules\`, \`/organization/settings\` and \`/billing\` an error has a
code for programs: \`error\`, \`message\`, \`timestamp\`. Everywhere else it is \`timestamp\`, \`status\`, \`error\`,
\`message\`, \`path\`, and \`validationErrors\` when fields are wrong: one message for each, to be read after its name. A
key without the scope an operation needs is told so in \`error\` and \`message\` alone.

An unknown path is 404; a known one with another method is 405, and \`Allow\` names the methods it has. After 429, 500
and 503 try again, each time later; 429 and 503 say in \`Retry-After\` when.

## Limits

Requests are counted per client address in windows of a minute. Every counted answer tells where it stands in
\`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Health checks, these pages, webhooks and agents
are not counted; trying passwords and registering have lower limits of their own.`;
