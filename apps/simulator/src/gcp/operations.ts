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

/** What an operation is to do. */
export interface Order extends Pick<Operation, 'type' | 'rule' | 'targetId' | 'network'> {
  readonly requestId: string | null;
  readonly carryOut: () => void;
  /** fails when its time has come */
  readonly failing: boolean;
  /** already carried out when it is answered */
  readonly atOnce: boolean;
}

const INTERNAL_ERROR = {
  code: 'INTERNAL_ERROR',
  message: 'Internal error. Please try again or contact Google Support.',
  status: 500,
};

/** Writes under way and those that were: accepted at once, carried out a little later. */
export class Operations {
  private known = new Map<string, Operation>();
  private byRequest = new Map<string, Operation>();

  /** @param takesMs from its acceptance to its end */
  constructor(
    private readonly world: World,
    private readonly takesMs: number,
  ) {}

  reset(): void {
    this.known = new Map();
    this.byRequest = new Map();
  }

  find(name: string): Operation | undefined {
    return this.known.get(name);
  }

  /** The operation that was started under a request id. */
  repeated(requestId: string | null): Operation | undefined {
    return requestId === null ? undefined : this.byRequest.get(requestId);
  }

  /** Names of rules that operations of a type are still at. */
  underWay(type?: OperationType): string[] {
    return [...this.known.values()]
      .filter((operation) => operation.endTime === null && (type ?? operation.type) === operation.type)
      .map(({ rule }) => rule);
  }

  start(order: Order): Operation {
    let finish: () => void;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { type, rule, targetId, network } = order;
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
    if (order.requestId !== null) this.byRequest.set(order.requestId, operation);
    const { epoch } = this.world;
    const end = (): void => {
      if (epoch === this.world.epoch) this.end(operation, order);
      finish();
    };
    if (order.atOnce) end();
    else setTimeout(end, this.takesMs).unref();
    return operation;
  }

  private end(operation: Operation, { carryOut, failing }: Order): void {
    if (failing) operation.error = INTERNAL_ERROR;
    else carryOut();
    operation.endTime = new Date().toISOString();
  }
}

const LINK = `https://www.googleapis.com/compute/v1/projects/${PROJECT}/global`;

/** An operation in Compute's form. */
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
