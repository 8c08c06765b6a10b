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
