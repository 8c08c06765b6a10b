import { randomBytes } from 'node:crypto';
import type { World } from '../provider';
import { newId } from './firewalls';
import { PROJECT } from './service-account';

export type OperationType = 'insert' | 'delete' | 'update' | 'patch';

export interface Operation {
  readonly id: string;
  readonly name: string;
  readonly type: OperationType;
  /** name of the firewall rule */
  readonly rule: string;
  readonly targetId: string;
  readonly network: string;
  readonly insertTime: string;
  readonly done: Promise<void>;
  endTime: string | null;
  error: { readonly code: string; readonly message: string; readonly status: number } | null;
}

/** A request to start an operation. */
export interface OperationRequest extends Pick<Operation, 'type' | 'rule' | 'targetId' | 'network'> {
  readonly requestId: string | null;
  readonly apply: () => void;
  /** the operation ends with an error, and applies nothing */
  readonly fails: boolean;
  /** the operation is done when the call is answered */
  readonly isImmediate: boolean;
}

const INTERNAL_ERROR = {
  code: 'INTERNAL_ERROR',
  message: 'Internal error. Please try again or contact Google Support.',
  status: 500,
};

/** Write operations, in progress and done: accepted immediately, applied later. */
export class Operations {
  private known = new Map<string, Operation>();
  private byRequest = new Map<string, Operation>();

  constructor(private readonly world: World) {}

  reset(): void {
    this.known = new Map();
    this.byRequest = new Map();
  }

  find(name: string): Operation | undefined {
    return this.known.get(name);
  }

  /** The operation that was started with a request id. */
  findByRequest(requestId: string | null): Operation | undefined {
    return requestId === null ? undefined : this.byRequest.get(requestId);
  }

  /** Names of rules with an operation in progress, optionally of one type. */
  rulesInProgress(type?: OperationType): string[] {
    return [...this.known.values()]
      .filter((operation) => operation.endTime === null && (type ?? operation.type) === operation.type)
      .map(({ rule }) => rule);
  }

  start(request: OperationRequest): Operation {
    let finish: () => void;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { type, rule, targetId, network } = request;
    const operation: Operation = {
      id: newId(),
      name: `operation-${Date.now()}-${randomBytes(6).toString('hex')}`,
      type,
      rule,
      targetId,
      network,
      insertTime: new Date().toISOString(),
      done,
      endTime: null,
      error: null,
    };
    this.known.set(operation.name, operation);
    if (request.requestId !== null) this.byRequest.set(request.requestId, operation);
    const { epoch } = this.world;
    const end = (): void => {
      if (epoch === this.world.epoch) this.end(operation, request);
      finish();
    };
    if (request.isImmediate) end();
    else setTimeout(end, this.world.sizes.gcpOperationMs).unref();
    return operation;
  }

  private end(operation: Operation, { apply, fails }: OperationRequest): void {
    if (fails) operation.error = INTERNAL_ERROR;
    else apply();
    operation.endTime = new Date().toISOString();
  }
}

const LINK = `https://www.googleapis.com/compute/v1/projects/${PROJECT}/global`;

/** An operation as Compute returns it. */
export function operationJson(operation: Operation): unknown {
  const { id, name, type, rule, targetId, insertTime, endTime, error } = operation;
  return {
    kind: 'compute#operation',
    id,
    name,
    operationType: type,
    targetLink: `${LINK}/firewalls/${rule}`,
    targetId,
    status: endTime === null ? 'RUNNING' : 'DONE',
    user: 'simulated',
    progress: endTime === null ? 0 : 100,
    insertTime,
    startTime: insertTime,
    selfLink: `${LINK}/operations/${name}`,
    ...(endTime !== null && { endTime }),
    ...(error && {
      error: { errors: [{ code: error.code, message: error.message }] },
      httpErrorStatusCode: error.status,
      httpErrorMessage: 'INTERNAL SERVER ERROR',
    }),
  };
}
