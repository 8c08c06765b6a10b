import type { CloudAccess, Sweeper } from '#engine';
import type { EngineStore } from '#engine-store';
import type { Database } from '#entities';
import { SmtpMailer } from '#mail';
import type { CheckpointSigner } from '#secrets';
import type { TenantStores } from '#tenant-store';
import type { Logger } from 'pino';
import { auditPartitionUpkeep } from './audit/audit-partition-upkeep';
import { auditSealing } from './audit/audit-sealer';
import { checkpointSigning } from './audit/checkpoint-signing';
import { overdueAlarm } from './audit/overdue-alarm';
import { unwrittenRecords } from './audit/unwritten-records';
import { subscriptionSweep } from './billing/subscription-sweep';
import { ledgerUpkeep, unwrittenRuleEvents } from './ledger/ledger-upkeep';
import { DueWorkPoll } from './due-work-poll';
import { NoticeSending } from './notices/notice-sending';
import { endingNotices } from './notices/ending-notices';
import { noticesOff } from './notices/notices-off';
import type { RepeatedTask } from './repeated-task';
import { accessRequestEnds } from './sweep/access-request-ends';
import { healthEventDeletion } from './sweep/health-event-deletion';
import { idempotencyKeyDeletion } from './sweep/idempotency-key-deletion';
import { organizationClosing, organizationForgetting } from './sweep/organization-closing';
import { sessionDeletion } from './sweep/session-deletion';
import { spentTokenDeletion } from './sweep/spent-token-deletion';
import { sweeping } from './sweep/sweeping';
import type { Vouching } from './sso/vouching';
import type { WebhookDelivery } from './webhooks/webhook-delivery';
import { verificationTasks } from './verification/verification-tasks';
import type { WorkerSettings } from './worker.settings';

/** What this process cannot recover from, the next one may; nothing is closed meanwhile. */
const MAX_SWEEP_FAILING_MS = 60_000;

/** What the tasks work with. */
export interface TaskParts {
  readonly database: Database;
  readonly stores: TenantStores;
  readonly engine: EngineStore;
  readonly sweeper: Sweeper;
  readonly clouds: CloudAccess;
}

/** The worker's periodic tasks. */
export class WorkerTasks {
  /** readiness depends on it */
  readonly sweep: RepeatedTask;
  readonly all: readonly RepeatedTask[];
  /** null: there is no mail server */
  private readonly notices: NoticeSending | null;

  /** @param signer null: audit chains are not signed @param slotted those that go on when their task has stopped */
  constructor(
    { database, stores, engine, sweeper, clouds }: TaskParts,
    settings: WorkerSettings,
    signer: CheckpointSigner | null,
    private readonly slotted: { readonly webhooks: WebhookDelivery; readonly vouching: Vouching },
    private readonly log: Logger,
  ) {
    this.sweep = sweeping(sweeper, log);
    const due = new DueWorkPoll(database, stores, sweeper, log);
    const { credentials, resources, accountLists } = verificationTasks(database, stores, engine, clouds, log);
    const days = settings.SESSION_RETENTION_DAYS;
    this.notices = noticesOf(database, stores, settings, log);
    this.all = [
      this.sweep,
      due.task,
      due.gate(auditSealing(database, stores, log), 'sealing'),
      ...(signer ? [checkpointSigning(database, stores, signer, log)] : []),
      due.gate(unwrittenRecords(database, stores, log), 'keptAuditRecords'),
      auditPartitionUpkeep(database, log),
      ledgerUpkeep(database, settings.LEDGER_RETENTION_MONTHS, log),
      due.gate(unwrittenRuleEvents(database, log), 'keptRuleEvents'),
      due.gate(overdueAlarm(database, engine, log), 'overdueRules'),
      due.gate(subscriptionSweep(database, stores, log), 'subscriptions'),
      due.gate(accessRequestEnds(database, stores, log), 'accessRequests'),
      due.gate(credentials, 'credentials'),
      due.gate(resources, 'resources'),
      due.gate(accountLists, 'accountLists'),
      due.gate(organizationClosing(database, stores, log), 'deletedOrganizations'),
      due.gate(slotted.webhooks.task, 'webhooks'),
      due.gate(slotted.vouching.task, 'companySignIns'),
      this.notices?.task.onlyWhile(() => sweeper.isSweeping) ?? noticesOff(database, stores, log),
      endingNotices(database, stores, log).onlyWhile(() => sweeper.isSweeping),
      organizationForgetting(database, stores, log),
      idempotencyKeyDeletion(database, log).onlyWhile(() => sweeper.isSweeping),
      spentTokenDeletion(database, stores, log),
      healthEventDeletion(database, settings.HEALTH_EVENT_RETENTION_DAYS, log),
      ...(days === 0 ? [] : [sessionDeletion(database, stores, days, log)]),
    ];
  }

  start(): void {
    for (const task of this.all) task.start();
    this.sweep.onFailingFor(MAX_SWEEP_FAILING_MS, () => {
      this.log.fatal('No sweep has succeeded for a minute: this worker ends, to be started again');
      process.exitCode = 1;
      process.kill(process.pid, 'SIGTERM');
    });
  }

  /** Waits for the running ones. */
  async stop(): Promise<void> {
    await Promise.all([
      ...this.all.map((task) => task.stop()),
      this.notices?.task.stop().then(() => this.notices?.stop()),
      ...Object.values(this.slotted).map((tasks) => tasks.task.stop().then(() => tasks.stop())),
    ]);
  }
}

function noticesOf(
  database: Database,
  stores: TenantStores,
  settings: WorkerSettings,
  log: Logger,
): NoticeSending | null {
  const { SMTP_URL, MAIL_FROM, SMTP_REQUIRE_TLS, PUBLIC_URL } = settings;
  if (SMTP_URL === undefined) return null;
  const mailer = new SmtpMailer(SMTP_URL, MAIL_FROM!, SMTP_REQUIRE_TLS);
  return new NoticeSending(database, stores, mailer, PUBLIC_URL, log);
}
