import type { Tool } from '@modelcontextprotocol/sdk/types.js';

/** Shown to a model once, before it uses a tool. */
export const INSTRUCTIONS =
  'These tools let this machine through the firewalls of named resources for a limited time. Call list_resources, ' +
  'request_access for what the task needs, wait_for_access before connecting, and release_access as soon as the task is ' +
  'done. Give the reason that your user has for it. list_access shows what is open. Ask for as few resources and minutes as will do. Access ends by itself when its ' +
  'time is over or this client disconnects. An address that has changed (isFromHere is false) needs new access.';

const TEXT = { type: 'string' } as const;
const SESSION_ID = { type: 'string', format: 'uuid', description: 'as request_access returned it' } as const;

const ENDPOINT = {
  type: ['string', 'null'],
  description: 'the host and port to connect to; null: not set',
} as const;

type Properties = Readonly<Record<string, object>>;

/** An object of which all fields are there. */
const shape = (
  properties: Properties,
): { type: 'object'; properties: Record<string, object>; required: string[] } => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

const listOf = (properties: Properties): object => ({ type: 'array', items: shape(properties) });

const ACCESS = {
  sessionId: TEXT,
  status: { ...TEXT, description: 'PENDING, ACTIVE, PARTIAL, FAILED, EXPIRING, EXPIRED or CANCELLED' },
  expiresAt: { type: ['string', 'null'], format: 'date-time' },
  addresses: { type: 'array', items: TEXT, description: 'of this machine, as the server observed them' },
  rules: listOf({
    resource: TEXT,
    endpoint: ENDPOINT,
    address: TEXT,
    status: TEXT,
    problem: { type: ['string', 'null'] },
  }),
  waitsFor: { type: ['string', 'null'], description: 'PENDING: whose approval it waits for; null: none' },
} as const;

const inputOf = (properties: Properties, required: readonly string[] = []): Tool['inputSchema'] => ({
  type: 'object',
  properties,
  required: [...required],
  additionalProperties: false,
});

/** What a model may do: nothing outlasts its client, and no secret is among the results. */
export const TOOLS: Tool[] = [
  {
    name: 'list_resources',
    title: 'List resources',
    description: 'Lists the resources that access can be requested for.',
    inputSchema: inputOf({}),
    outputSchema: shape({
      resources: listOf({ id: TEXT, name: TEXT, endpoint: ENDPOINT, provider: TEXT, resourceType: TEXT }),
      maxHours: { type: 'integer' },
    }),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'request_access',
    title: 'Request access',
    description:
      'Requests network access from this machine to resources for a limited time. The rules are applied in the ' +
      'background: call wait_for_access before connecting. Where other people have to approve it, it is PENDING, and ' +
      'waitsFor says who they are: tell your user. Access ends when it is released, when its time is over, or ' +
      'when this client disconnects.',
    inputSchema: inputOf(
      {
        resources: {
          type: 'array',
          items: { type: 'string', maxLength: 200 },
          minItems: 1,
          maxItems: 20,
          description: 'names or ids, as list_resources returns them',
        },
        minutes: { type: 'integer', minimum: 1, description: 'how long; instead of hours' },
        hours: { type: 'integer', minimum: 1, description: 'how long (default: 1)' },
        reason: { type: 'string', maxLength: 500, description: 'why, for the people who approve access' },
      },
      ['resources'],
    ),
    outputSchema: shape(ACCESS),
    annotations: { destructiveHint: false },
  },
  {
    name: 'wait_for_access',
    title: 'Wait for access',
    description:
      'Waits until requested access is approved, and applied or refused: ACTIVE, PARTIAL or FAILED. While it is PENDING, ' +
      'call it again.',
    inputSchema: inputOf({ sessionId: SESSION_ID, seconds: { type: 'integer', minimum: 1, maximum: 60 } }, [
      'sessionId',
    ]),
    outputSchema: shape(ACCESS),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'list_access',
    title: 'List access',
    description:
      'Lists the access that was requested here and has not ended, and the addresses this machine has now.',
    inputSchema: inputOf({}),
    outputSchema: shape({
      access: listOf({
        ...ACCESS,
        isFromHere: { type: 'boolean', description: 'whether it is for the address of this machine now' },
      }),
      addresses: { type: 'array', items: TEXT },
    }),
    annotations: { readOnlyHint: true },
  },
  {
    name: 'release_access',
    title: 'Release access',
    description: 'Ends access that was requested here.',
    inputSchema: inputOf({ sessionId: SESSION_ID }, ['sessionId']),
    outputSchema: shape({ sessionId: TEXT, status: TEXT }),
    annotations: { destructiveHint: false, idempotentHint: true },
  },
];
