import { Server as McpServer } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { visible, visibleLines } from '#client';
import { idsOf } from '../commands/setup/things';
import { reportOf } from '../failure-report';
import type { Call } from '../program';
import { Signals } from '../terminal/signals';
import { VERSION } from '../version';
import { AccessTools } from './access-tools';
import { INSTRUCTIONS, TOOLS } from './tools';

export interface McpOptions {
  /** the only resources to be requested; empty: those of the user's roles */
  readonly resource: readonly string[];
  /** the longest access to be requested */
  readonly maxHours: number;
  readonly lease: number;
}

/**
 * Serves the tools over standard input and output. Access lasts only while the client is connected: with it, every session
 * of this process is stopped.
 */
export async function serveMcp({ options, output, connection }: Call<McpOptions>): Promise<void> {
  const signals = new Signals();
  const allowed =
    options.resource.length === 0 ? null : await idsOf(connection.api, 'resource', options.resource);
  const tools = new AccessTools(connection, output, {
    allowed,
    maxHours: options.maxHours,
    leaseSeconds: options.lease,
  });
  const server = new McpServer(
    { name: 'drawbridge', title: 'Drawbridge', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    try {
      const result = await tools.call(params.name, params.arguments ?? {});
      return {
        content: [{ type: 'text', text: visibleLines(JSON.stringify(result, null, 2)) }],
        structuredContent: result,
      };
    } catch (error) {
      const { message, fix } = await reportOf(error);
      const text = visible(fix === null ? message : `${message}. ${fix}`);
      return { isError: true, content: [{ type: 'text', text }] };
    }
  });
  const closed = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    signals.aborted.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await tools.releaseAll();
  await server.close();
  signals.close();
}
