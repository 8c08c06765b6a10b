import type { Logger } from 'pino';

/** The process's log as an injection token: pino's own logger is a type only. */
export class WorkerLog {
  constructor(readonly log: Logger) {}
}
