import type { Tool } from '@modelcontextprotocol/sdk/types.js';

const SESSION_ID = { type: 'string', format: 'uuid', description: 'as request_access returned it' } as const;

/** What a model may do: nothing outlasts its client, and no secret is among the results. */
export const TOOLS: Tool[] = [
  {
    name: 'list_resources',
    description: 'Lists the resources that access can be requested for.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'request_access',
    description:
      'Requests network access from this machine to resources for a limited time. The rules are applied in the ' +
      'background: call wait_for_access before connecting. Access ends when it is released, when its time is over, or ' +
      'when this client disconnects.',
    inputSchema: {
      type: 'object',
      properties: {
        resources: {
          type: 'array',
          items: { type: 'string', maxLength: 200 },
          minItems: 1,
          maxItems: 20,
          description: 'names or ids, as list_resources returns them',
        },
        hours: { type: 'integer', minimum: 1, description: 'default: 1' },
      },
      required: ['resources'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: false },
  },
  {
    name: 'wait_for_access',
    description: 'Waits until requested access is applied or refused: ACTIVE, PARTIAL or FAILED.',
    inputSchema: {
      type: 'object',
      properties: { sessionId: SESSION_ID, seconds: { type: 'integer', minimum: 1, maximum: 60 } },
      required: ['sessionId'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'release_access',
    description: 'Ends access that was requested here.',
    inputSchema: {
      type: 'object',
      properties: { sessionId: SESSION_ID },
      required: ['sessionId'],
      additionalProperties: false,
    },
    annotations: { destructiveHint: false, idempotentHint: true },
  },
];
