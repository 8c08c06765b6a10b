import { randomBytes } from 'node:crypto';
import type { World } from '../provider';
import { LINK } from './firewall-json';
import { newId } from './firewalls';

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
  private readonly known = new Map<string, Operation>();
  private readonly byRequest = new Map<string, Operation>();

  constructor(private readonly world: World) {}

  reset(): void {
    this.known.clear();
    this.byRequest.clear();
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
    const { apply, requestId, fails, isImmediate, ...what } = request;
    const operation: Operation = {
      ...what,
      id: newId(),
      name: `operation-${Date.now()}-${randomBytes(6).toString('hex')}`,
      insertTime: new Date().toISOString(),
      done,
      endTime: null,
      error: null,
    };
    this.known.set(operation.name, operation);
    if (requestId !== null) this.byRequest.set(requestId, operation);
    const { epoch } = this.world;
    const end = (): void => {
      if (epoch === this.world.epoch) {
        if (fails) operation.error = INTERNAL_ERROR;
        else apply();
        operation.endTime = new Date().toISOString();
      }
      finish();
    };
    if (isImmediate) end();
    else setTimeout(end, this.world.sizes.gcpOperationMs).unref();
    return operation;
  }
}

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
