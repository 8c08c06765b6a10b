import type { Logger } from 'pino';
import type { Database } from '#entities';
import { type Mailer, mailFailure } from '#mail';
import { grouped } from '#rules';
import type { FeedItem, LeasedCursor, Recipient, TenantStores } from '#tenant-store';
import { RepeatedTask } from '../repeated-task';
import { noticeMail } from './notice-text';
import { noticeOf, type Notice } from './notices';

const INTERVAL_MS = 5000;
/** While more wait than there are slots. */
const BUSY_INTERVAL_MS = 1000;
/** Organizations that are notified at the same time. */
const SLOTS = 8;
const RECORDS_BATCH_SIZE = 500;
/** After it others get the slot. The mail that is being sent then goes on for fifteen seconds at most. */
const TURN_MS = 5000;
/** Longer than a turn and its last mail: after a crash another worker tells when it has run out. */
const LEASE_SECONDS = 30;
/** Seconds, after the mails: what follows shortly comes with the next one, unless it is urgent; when some failed; when the turn was too short. */
const PAUSES = { sent: 15, later: 60, server: 60, unfinished: 0 } as const;
/** From the first notice that is collected to the mail. */
const COLLECTED_SECONDS = 300;
/** What could not be reported for so long is not reported any more. */
const MAX_AGE_MS = 86_400_000;

/** A notice in the order in which it happened. */
interface Queued extends Notice {
  readonly position: bigint;
}

/**
 * Reports to people by mail what the audit trail records, each organization in turns. A cursor moves when all have their mail:
 * after a crash some get one twice, and none misses anything. While one receiver's mail fails, this process remembers what the
 * others have got.
 */
export class NoticeSending {
  readonly task = new RepeatedTask('send notices', INTERVAL_MS, () => this.fill(), this.log);
  private readonly running = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  /** the mail server failed the last time: no cursor after the other is tried */
  private isServerFailing = false;
  /** the position up to which a user has mails, by cursor and user */
  private readonly reached = new Map<string, bigint>();

  constructor(
    private readonly database: Database,
    private readonly stores: TenantStores,
    private readonly mailer: Mailer,
    private readonly publicUrl: string | undefined,
    private readonly log: Logger,
  ) {}

  /** Gives up the mails that are being sent; they are sent again. Call it when the task has stopped. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  /** Starts turns in the free slots. @returns when others may be ready */
  private async fill(): Promise<number | null> {
    const { autocommit } = this.database;
    await this.stores.notices.begin(autocommit);
    const free = SLOTS - this.running.size;
    const leased = await this.stores.notices.lease(autocommit, free, LEASE_SECONDS);
    for (const cursor of leased) {
      const turn = this.tell(cursor).finally(() => this.running.delete(turn));
      this.running.add(turn);
    }
    return leased.length < free || this.isServerFailing ? null : BUSY_INTERVAL_MS;
  }

  private async tell(cursor: LeasedCursor): Promise<void> {
    const { log } = this;
    const { notices: store } = this.stores;
    const { autocommit } = this.database;
    const { organizationId, position, kind, isDue } = cursor;
    try {
      const { notices, last } = await this.unread(cursor);
      if (notices.length === 0) return await store.release(autocommit, cursor, last, null);
      if (kind === 'COLLECTED' && !isDue) {
        return await store.release(autocommit, cursor, position, COLLECTED_SECONDS);
      }
      const outcome = await this.send(cursor, notices);
      const isSent = outcome === 'sent';
      const pause = kind !== 'HOLDERS' && isSent ? null : PAUSES[outcome];
      await store.release(autocommit, cursor, isSent ? last : position, pause);
      if (outcome !== 'unfinished') this.isServerFailing = outcome === 'server';
    } catch (error) {
      log.error({ err: error, organizationId }, 'Notices could not be mailed; it is tried again');
    }
  }

  /** The next records, of which those that are reported; after many without any, the ones after them. */
  private async unread(cursor: LeasedCursor): Promise<{ notices: Queued[]; last: string }> {
    const { autocommit } = this.database;
    const { organizationId, position: first } = cursor;
    const ending = performance.now() + TURN_MS;
    for (let position = first; ;) {
      const items = await this.stores.auditFeed.after(
        autocommit,
        organizationId,
        position,
        RECORDS_BATCH_SIZE,
      );
      const notices: Queued[] = [];
      for (const item of items) {
        const notice = noticeIn(item, cursor);
        if (!notice) continue;
        const isKnown = notices.some(({ title }) => title === notice.title);
        if (
          notice.onceADay &&
          (isKnown || (await this.stores.notices.isRepeated(autocommit, organizationId, item.record!)))
        )
          continue;
        notices.push(notice);
      }
      position = items.at(-1)?.position ?? position;
      const isOver = items.length < RECORDS_BATCH_SIZE || performance.now() > ending;
      if (notices.length > 0 || isOver) return { notices, last: position };
    }
  }

  private async send(cursor: LeasedCursor, notices: readonly Queued[]): Promise<keyof typeof PAUSES> {
    const { organizationId, kind } = cursor;
    const { autocommit } = this.database;
    const ending = performance.now() + TURN_MS;
    const byHolder = grouped(notices, ({ holder }) => holder);
    const holders = [...byHolder.keys()].filter((id) => id !== null);
    const asked = notices.flatMap(({ request }) => request ?? []);
    const deciders =
      asked.length > 0 ? await this.stores.accessRequests.deciders(autocommit, organizationId, asked) : [];
    const concerned = [...holders, ...deciders.map(({ userId }) => userId)];
    const recipients = await this.stores.notices.recipients(autocommit, organizationId, concerned);
    const decides = ({ request }: Notice, { id }: Recipient): boolean =>
      deciders.some((one) => one.requestId === request && one.userId === id);
    const keyOf = ({ id }: Recipient): string => `${kind} ${id}`;
    let outcome: 'sent' | 'later' = 'sent';
    for (const recipient of recipients) {
      const reached = this.reached.get(keyOf(recipient)) ?? 0n;
      const own = notices.filter(
        (notice) => notice.position > reached && (isFor(notice, recipient) || decides(notice, recipient)),
      );
      if (own.length === 0) continue;
      if (this.stopping.signal.aborted || performance.now() > ending) return 'unfinished';
      const failure = await this.mail(cursor, recipient, own);
      if (failure === 'server' || failure === 'unfinished') return failure;
      if (failure === 'later') outcome = 'later';
      else this.reached.set(keyOf(recipient), own.at(-1)!.position);
    }
    if (outcome === 'sent') for (const recipient of recipients) this.reached.delete(keyOf(recipient));
    return outcome;
  }

  private async mail(
    { organizationId, organizationName }: LeasedCursor,
    { id: userId, email }: Recipient,
    notices: readonly Notice[],
  ): Promise<ReturnType<typeof mailFailure> | 'unfinished' | null> {
    try {
      const mail = noticeMail(email, organizationName, notices, this.publicUrl);
      await this.mailer.send(mail, this.stopping.signal);
      return null;
    } catch (error) {
      if (this.stopping.signal.aborted) return 'unfinished';
      const failure = mailFailure(error);
      const follows = failure === 'refused' ? 'it is not sent again' : 'it is sent again in a minute';
      this.log.error({ err: error, organizationId, userId }, `A notice could not be mailed: ${follows}`);
      return failure;
    }
  }
}

const isFor = ({ holder, request, switchedBy }: Notice, { id, isAdmin, noticesOff }: Recipient): boolean =>
  (holder === null ? isAdmin && request === undefined : holder === id) &&
  (switchedBy === null || !noticesOff.includes(switchedBy));

function noticeIn({ position, record }: FeedItem, { kind }: LeasedCursor): Queued | null {
  const notice = record && noticeOf(record);
  if (notice?.kind !== kind || Date.now() - notice.at.getTime() > MAX_AGE_MS) return null;
  return { ...notice, position: BigInt(position) };
}
