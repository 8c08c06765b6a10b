import type { IncomingMessage } from 'node:http';

/** Every request of the web console has it: `1`. Pages of other sites cannot send it. */
export const CONSOLE_HEADER = 'X-Drawbridge-Console';

export const isFromConsole = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers[CONSOLE_HEADER.toLowerCase()] === '1';
