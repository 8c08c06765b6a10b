import { HttpException, Injectable, Logger } from '@nestjs/common';
import { Trial } from '#entities';
import { LimiterPerKey } from '#rules';
import { Tenants } from '#tenant-store';
import type { BulkOutcome, BulkResultDto } from '../http/bulk.dto';
import type { Actor } from '../http/actor';
import { failureOf } from '../errors/failure';
import type { AuditedAction } from './audited-actions';
import { isDenial, recordDenial } from './denied-actions.filter';

type Row = Omit<BulkResultDto, 'status' | 'message' | 'outcome'>;

/** The same act on many objects, each as a request for it alone: in a transaction of its own, with a record of its own. */
@Injectable()
export class Bulk {
  private readonly logger = new Logger('Bulk');
  private readonly turns = new LimiterPerKey(1, 0);

  constructor(private readonly stores: Tenants) {}

  /** As `each`. @throws TooBusy while another one of the caller runs */
  alone<Item extends Row>(
    actor: Actor,
    action: AuditedAction | ((item: Item) => AuditedAction),
    items: readonly Item[],
    act: (item: Item) => Promise<BulkOutcome | (Row & { readonly outcome: BulkOutcome })>,
  ): Promise<{ results: BulkResultDto[] }> {
    const work = (): Promise<{ results: BulkResultDto[] }> => this.each(actor, action, items, act);
    // dry runs have turns of their own
    return Trial.current ? work() : this.turns.run(actor.principal.userId, work);
  }

  /** One after the other. A row that is refused, or fails, stops nothing: its result says why. */
  async each<Item extends Row>(
    actor: Actor,
    action: AuditedAction | ((item: Item) => AuditedAction),
    items: readonly Item[],
    act: (item: Item) => Promise<BulkOutcome | (Row & { readonly outcome: BulkOutcome })>,
  ): Promise<{ results: BulkResultDto[] }> {
    const results: BulkResultDto[] = [];
    for (const item of items) {
      try {
        const done = await act(item);
        results.push(typeof done === 'string' ? { id: item.id, outcome: done } : done);
      } catch (error) {
        const { status, message } = await this.recordRefusal(
          actor,
          typeof action === 'function' ? action(item) : action,
          item.id,
          error,
        );
        results.push({ id: item.id, outcome: 'REFUSED', status, message });
      }
    }
    return { results };
  }

  private async recordRefusal(
    actor: Actor,
    action: AuditedAction,
    resourceId: string | null,
    error: unknown,
  ): Promise<{ status: number; message: string }> {
    const failure = failureOf(error);
    if (failure.unexpected)
      this.logger.error({ msg: 'A row of many failed', reason: (error as Error).message });
    if (error instanceof HttpException && isDenial(error))
      await recordDenial(this.stores, actor, action, resourceId, error);
    return failure;
  }
}

/** Rows that are named by their ids, each once. */
export const rowsOf = (ids: readonly string[] = []): { id: string }[] =>
  [...new Set(ids)].map((id) => ({ id }));
