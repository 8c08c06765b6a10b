import type { BadInput } from './input';
export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

export interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers one kind of request to the control interface. */
export type Route = (request: ControlRequest) => ControlAnswer;

export const ok = (body: unknown): ControlAnswer => ({ status: 200, body });

export const badInput = (error: BadInput): ControlAnswer => ({
  status: 400,
  body: {
    error: 'Bad Request',
    message: error.message,
    field: error.field,
    ...(error.allowed.length === 0 ? {} : { allowed: error.allowed }),
  },
});
