import type { Logger } from 'pino';
import type { Database } from '#entities';
import { type Mailer, mailFailure } from '#mail';
import { AuditFeed, type FeedItem, type LeasedCursor, NoticeStore, type Recipient } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { noticeMail } from './notice-text';
import { collectedNotice, type Notice, urgentNotice } from './notices';

const INTERVAL_MS = 5000;
/** Organizations that are told at the same time. */
const AT_ONCE = 8;
const RECORDS_BATCH_SIZE = 500;
/** After it no further mail is begun. The one that is being sent goes on for fifteen seconds at most. */
const TURN_MS = 20_000;
/** Longer than a turn and its last mail: after a crash another worker tells when it has run out. */
const LEASE_SECONDS = 45;
/** Seconds, after the mails: what follows shortly comes with the next one; when some failed; when the turn was too short. */
const PAUSES = { told: 15, later: 60, server: 60, unfinished: 0 } as const;
/** From the first notice that is collected to the mail. */
const COLLECTED_SECONDS = 300;
/** What could not be told for so long is not told any more. */
const MAX_AGE_MS = 86_400_000;

/** A notice in the order in which it happened. */
interface Told extends Notice {
  readonly position: bigint;
}

/**
 * Tells people by mail what the audit trail records. A cursor moves when all have been told: after a crash some are told
 * twice, nobody misses anything. While one receiver's mail fails, this process remembers who was told what.
 */
export class NoticeSending {
  readonly task: RepeatedTask;
  private readonly store = new NoticeStore();
  private readonly feed = new AuditFeed();
  /** the position up to which somebody was told, by cursor and user */
  private readonly reached = new Map<string, bigint>();

  constructor(
    private readonly database: Database,
    private readonly mailer: Mailer,
    private readonly publicUrl: string | undefined,
    private readonly log: Logger,
  ) {
    this.task = new RepeatedTask('tell by mail', INTERVAL_MS, (stopping) => this.tellAll(stopping), log);
  }

  /** @returns 0: others may be ready */
  private async tellAll(stopping: AbortSignal): Promise<number | null> {
    const { autocommit } = this.database;
    await this.store.begin(autocommit);
    const leased = await this.store.lease(autocommit, AT_ONCE, LEASE_SECONDS);
    const told = await Promise.all(leased.map((cursor) => this.tell(cursor, stopping)));
    return leased.length === AT_ONCE && told.every(Boolean) ? 0 : null;
  }

  /** @returns false when the mail server fails, for others too */
  private async tell(cursor: LeasedCursor, stopping: AbortSignal): Promise<boolean> {
    const { store, feed, log } = this;
    const { autocommit } = this.database;
    const { organizationId, position, isCollected, isDue } = cursor;
    try {
      const items = await feed.after(autocommit, organizationId, position, RECORDS_BATCH_SIZE);
      const told = items.flatMap((item) => toTold(item, isCollected));
      const last = items.at(-1)?.position ?? position;
      if (told.length === 0) {
        await store.release(autocommit, cursor, last, null);
        return true;
      }
      if (isCollected && !isDue) {
        await store.release(autocommit, cursor, position, COLLECTED_SECONDS);
        return true;
      }
      const outcome = await this.send(cursor, told, stopping);
      const isTold = outcome === 'told';
      const pause = isCollected && isTold ? null : PAUSES[outcome];
      await store.release(autocommit, cursor, isTold ? last : position, pause);
      return outcome !== 'server';
    } catch (error) {
      log.error({ err: error, organizationId }, 'People could not be told by mail; it is tried again');
      return true;
    }
  }

  private async send(
    cursor: LeasedCursor,
    told: readonly Told[],
    stopping: AbortSignal,
  ): Promise<keyof typeof PAUSES> {
    const { organizationId, isCollected } = cursor;
    const ending = performance.now() + TURN_MS;
    const recipients = await this.store.recipients(this.database.autocommit, organizationId, []);
    const keyOf = ({ id }: Recipient): string => `${isCollected} ${id}`;
    let outcome: 'told' | 'later' = 'told';
    for (const recipient of recipients) {
      const reached = this.reached.get(keyOf(recipient)) ?? 0n;
      const own = told.filter(({ position }) => position > reached);
      if (own.length === 0) continue;
      if (stopping.aborted || performance.now() > ending) return 'unfinished';
      const failure = await this.mail(cursor, recipient, own);
      if (failure === 'server') return 'server';
      if (failure === 'later') outcome = 'later';
      else this.reached.set(keyOf(recipient), own.at(-1)!.position);
    }
    if (outcome === 'told') for (const recipient of recipients) this.reached.delete(keyOf(recipient));
    return outcome;
  }

  private async mail(
    { organizationId, organizationName }: LeasedCursor,
    { id: userId, email }: Recipient,
    notices: readonly Notice[],
  ): Promise<ReturnType<typeof mailFailure> | null> {
    try {
      await this.mailer.send(noticeMail(email, organizationName, notices, this.publicUrl));
      return null;
    } catch (error) {
      const failure = mailFailure(error);
      const follows = failure === 'refused' ? 'it is not sent again' : 'it is sent again in a minute';
      this.log.error({ err: error, organizationId, userId }, `A notice could not be mailed: ${follows}`);
      return failure;
    }
  }
}

function toTold({ position, record }: FeedItem, isCollected: boolean): Told[] {
  const notice = record && (isCollected ? collectedNotice(record) : urgentNotice(record));
  if (!notice || Date.now() - notice.at.getTime() > MAX_AGE_MS) return [];
  return [{ ...notice, position: BigInt(position) }];
}
