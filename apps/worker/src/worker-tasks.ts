import { SmtpMailer } from '#mail';
import type { CheckpointSigner } from '#secrets';
import { auditSealing } from './audit/audit-sealer';
import { auditPartitionUpkeep, overdueAlarm, unwrittenRecords } from './audit/audit-tasks';
import { checkpointSigning } from './audit/checkpoint-signing';
import { subscriptionSweep } from './billing/subscription-sweep';
import { ledgerUpkeep, unwrittenRuleEvents } from './ledger/ledger-upkeep';
import { DueWorkPoll } from './due-work-poll';
import { NoticeSending } from './notices/notice-sending';
import { endingNotices, noticesOff } from './notices/notice-tasks';
import { RepeatedTask, type TaskParts } from './repeated-task';
import {
  healthEventDeletion,
  idempotencyKeyDeletion,
  organizationForgetting,
  sessionDeletion,
  spentTokenDeletion,
} from './sweep/deletions';
import { accessRequestEnds, organizationClosing } from './sweep/ends';
import type { Vouching } from './sso/vouching';
import type { WebhookDelivery } from './webhooks/webhook-delivery';
import { verificationTasks } from './verification/verification-tasks';
import type { WorkerSettings } from './worker.settings';

/** From one sweep to the next, unless a session ends before that. */
const SWEEP_INTERVAL_MS = 1000;
/** What this process cannot recover from, the next one may; nothing is closed meanwhile. */
const MAX_SWEEP_FAILING_MS = 60_000;

/** The worker's periodic tasks. */
export class WorkerTasks {
  /** readiness depends on it */
  readonly sweep = new RepeatedTask(
    'sweep',
    SWEEP_INTERVAL_MS,
    (stopping) => this.parts.sweeper.sweep(stopping),
    this.parts.log,
  );
  readonly all: readonly RepeatedTask[];
  /** null: there is no mail server */
  private readonly notices: NoticeSending | null;

  /** @param signer null: audit chains are not signed @param slotted those that go on when their task has stopped */
  constructor(
    private readonly parts: TaskParts,
    settings: WorkerSettings,
    signer: CheckpointSigner | null,
    private readonly slotted: { readonly webhooks: WebhookDelivery; readonly vouching: Vouching },
  ) {
    const { sweeper } = parts;
    const due = new DueWorkPoll(parts);
    const { credentials, resources, accountLists } = verificationTasks(parts);
    const days = settings.SESSION_RETENTION_DAYS;
    this.notices = noticesOf(parts, settings);
    this.all = [
      this.sweep,
      due.task,
      due.gate(auditSealing(parts), 'sealing'),
      ...(signer ? [checkpointSigning(parts, signer)] : []),
      due.gate(unwrittenRecords(parts), 'keptAuditRecords'),
      auditPartitionUpkeep(parts),
      ledgerUpkeep(parts, settings.LEDGER_RETENTION_MONTHS),
      due.gate(unwrittenRuleEvents(parts), 'keptRuleEvents'),
      due.gate(overdueAlarm(parts), 'overdueRules'),
      due.gate(subscriptionSweep(parts), 'subscriptions'),
      due.gate(accessRequestEnds(parts), 'accessRequests'),
      due.gate(credentials, 'credentials'),
      due.gate(resources, 'resources'),
      due.gate(accountLists, 'accountLists'),
      due.gate(organizationClosing(parts), 'deletedOrganizations'),
      due.gate(slotted.webhooks.task, 'webhooks'),
      due.gate(slotted.vouching.task, 'companySignIns'),
      this.notices?.task.onlyWhile(() => sweeper.isSweeping) ?? noticesOff(parts),
      endingNotices(parts).onlyWhile(() => sweeper.isSweeping),
      organizationForgetting(parts),
      idempotencyKeyDeletion(parts).onlyWhile(() => sweeper.isSweeping),
      spentTokenDeletion(parts),
      healthEventDeletion(parts, settings.HEALTH_EVENT_RETENTION_DAYS),
      ...(days === 0 ? [] : [sessionDeletion(parts, days)]),
    ];
  }

  start(): void {
    for (const task of this.all) task.start();
    this.sweep.onFailingFor(MAX_SWEEP_FAILING_MS, () => {
      this.parts.log.fatal('No sweep has succeeded for a minute: this worker ends, to be started again');
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

function noticesOf({ database, stores, log }: TaskParts, settings: WorkerSettings): NoticeSending | null {
  const { SMTP_URL, MAIL_FROM, SMTP_REQUIRE_TLS, PUBLIC_URL } = settings;
  if (SMTP_URL === undefined) return null;
  const mailer = new SmtpMailer(SMTP_URL, MAIL_FROM!, SMTP_REQUIRE_TLS);
  return new NoticeSending(database, stores, mailer, PUBLIC_URL, log);
}
