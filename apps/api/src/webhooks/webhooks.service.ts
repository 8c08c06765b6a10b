import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { ListQuery, Sliced, Tx } from '#entities';
import type { Principal } from '#guards';
import type { OrganizationId } from '#rules';
import { type DeliveryRow, type LockedWebhook, type WebhookRow, webhookLabel, Tenants } from '#tenant-store';
import { recordAction, type ActionObject } from '../audit/action-records';
import { changesBetween, type Changes } from '../audit/changes';
import { DataKeys } from '../credentials/data-keys';
import { invalidField, notFound, notPossible, type ApiError } from '../errors';
import type { Actor } from '../http/actor';
import type { CreateWebhookDto, DeliveryQueryDto, UpdateWebhookDto } from './dto/webhook.dto';
import { WebhookUrls } from './webhook-urls';

const MAX_WEBHOOKS = 20;
const SECRET_BYTES = 32;

/** A webhook with its secret, which is shown once. */
export interface CreatedWebhook {
  readonly row: WebhookRow;
  readonly secret: string;
}

type Secrets = Readonly<Record<string, string>>;

/** Where an organization's audit records are sent to. A worker sends them. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly stores: Tenants,
    private readonly urls: WebhookUrls,
    private readonly dataKeys: DataKeys,
  ) {}

  list({ organizationId }: Principal, query: ListQuery): Promise<Sliced<WebhookRow>> {
    return this.stores.webhooks.list(this.stores.autocommit, organizationId, query);
  }

  async find({ organizationId }: Principal, id: string): Promise<WebhookRow> {
    const webhook = await this.stores.webhooks.find(this.stores.autocommit, organizationId, id);
    if (!webhook) throw missing(id);
    return webhook;
  }

  async create(actor: Actor, dto: CreateWebhookDto): Promise<CreatedWebhook> {
    const { organizationId, email } = actor.principal;
    const { name = null, format = 'standard', eventTypes = [] } = dto;
    const url = await this.urls.check(dto.url);
    const [id, secret, shownUrl] = [randomUUID(), newSecret(), this.urls.shown(url, format)];
    const sealedData = await this.dataKeys.seal(organizationId, id, {
      url,
      secret,
      ...((dto.authorization ?? null) !== null && { authorization: dto.authorization! }),
    });
    const created = {
      id,
      name,
      format,
      shownUrl,
      sealedData,
      eventTypes: [...new Set(eventTypes)],
      createdByEmail: email,
    };
    return this.stores.transaction(async (tx) => {
      await this.stores.users.lock(tx, organizationId);
      if ((await this.stores.webhooks.count(tx, organizationId)) >= MAX_WEBHOOKS)
        throw notPossible(`The organization has ${MAX_WEBHOOKS} webhooks, the maximum: delete one`);
      await this.stores.webhooks.create(tx, organizationId, created);
      const row = (await this.stores.webhooks.find(tx, organizationId, id))!;
      await recordAction(tx, actor, 'WEBHOOK_CREATED', objectOf(row), {
        format,
        eventTypes: row.eventTypes,
      });
      return { row, secret };
    });
  }

  async update(actor: Actor, id: string, dto: UpdateWebhookDto): Promise<WebhookRow> {
    const { organizationId } = actor.principal;
    const { isEnabled } = dto;
    const url = dto.url === undefined ? undefined : await this.urls.check(dto.url);
    return this.changing(actor, id, async (tx, before) => {
      await this.stores.webhooks.update(tx, organizationId, id, {
        name: dto.name,
        eventTypes: dto.eventTypes && [...new Set(dto.eventTypes)],
        ...(url !== undefined && {
          shownUrl: this.urls.shown(url, before.format),
        }),
        ...((url !== undefined || dto.authorization !== undefined) && {
          sealedData: await this.reseal(organizationId, before, (secrets) =>
            changedSecrets(secrets, url, dto.authorization),
          ),
        }),
      });
      if (isEnabled === false) await this.stores.webhooks.disable(tx, organizationId, id);
      if (isEnabled === true && !before.isEnabled) await this.stores.webhooks.enable(tx, organizationId, id);
      const after = (await this.stores.webhooks.find(tx, organizationId, id))!;
      await recordAction(tx, actor, 'WEBHOOK_UPDATED', objectOf(after), {
        changed: changesOf(before, after, url !== undefined, dto.authorization !== undefined),
      });
      return after;
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.changing(actor, id, async (tx, webhook) => {
      await this.stores.webhooks.delete(tx, actor.principal.organizationId, id);
      await recordAction(tx, actor, 'WEBHOOK_DELETED', objectOf(webhook));
    });
  }

  /** The former secret signs for another day, beside the new one. */
  async rotateSecret(actor: Actor, id: string): Promise<CreatedWebhook> {
    const { organizationId } = actor.principal;
    const secret = newSecret();
    return this.changing(actor, id, async (tx, { sealedData, ...row }) => {
      const resealed = await this.reseal(organizationId, { id, sealedData }, (secrets) => {
        const { secret: formerSecret } = secrets;
        return { ...secrets, secret, ...(formerSecret !== undefined && { formerSecret }) };
      });
      await this.stores.webhooks.update(tx, organizationId, id, { sealedData: resealed }, true);
      await recordAction(tx, actor, 'WEBHOOK_SECRET_ROTATED', objectOf(row));
      return { row, secret };
    });
  }

  /** Writes the record of the test, which is sent to the webhook whatever it asks for. */
  async test(actor: Actor, id: string): Promise<void> {
    await this.changing(actor, id, async (tx, webhook) => {
      refuseDisabled(webhook);
      await recordAction(tx, actor, 'WEBHOOK_TESTED', objectOf(webhook));
    });
  }

  async deliveries(principal: Principal, id: string, query: DeliveryQueryDto): Promise<Sliced<DeliveryRow>> {
    await this.find(principal, id);
    const { autocommit, webhooks } = this.stores;
    return webhooks.deliveries(autocommit, principal.organizationId, id, query.status ?? null, query);
  }

  async redeliver(actor: Actor, id: string, deliveryId: string): Promise<void> {
    await this.changing(actor, id, async (tx, webhook) => {
      refuseDisabled(webhook);
      if (!(await this.stores.webhooks.redeliver(tx, actor.principal.organizationId, id, deliveryId)))
        throw notFound(`Delivery ${deliveryId} does not exist`);
      await recordAction(tx, actor, 'WEBHOOK_REDELIVERED', objectOf(webhook), { deliveryId });
    });
  }

  /** Runs a change while the webhook is locked. @throws ApiError 404 */
  private changing<T>(
    { principal }: Actor,
    id: string,
    change: (tx: Tx, before: LockedWebhook) => Promise<T>,
  ): Promise<T> {
    return this.stores.transaction(async (tx) => {
      const before = await this.stores.webhooks.findLocked(tx, principal.organizationId, id);
      if (!before) throw missing(id);
      return change(tx, before);
    });
  }

  private async reseal(
    organizationId: OrganizationId,
    { id, sealedData }: Pick<LockedWebhook, 'id' | 'sealedData'>,
    change: (secrets: Secrets) => Secrets,
  ): Promise<Secrets> {
    const secrets = await this.dataKeys.open(organizationId, { id, sealedData });
    return this.dataKeys.seal(organizationId, id, change(secrets));
  }
}

/** @throws ApiError 400 when what authorizes at one host would be sent to another one */
function changedSecrets(
  { authorization: kept, ...others }: Secrets,
  url: string | undefined,
  given: string | null | undefined,
): Secrets {
  const isElsewhere = url !== undefined && new URL(url).origin !== new URL(others['url']!).origin;
  if (kept !== undefined && given === undefined && isElsewhere) {
    throw invalidField('authorization', 'must be given with a url of another host: the text for it, or null');
  }
  const authorization = given === undefined ? kept : given;
  return {
    ...others,
    ...(url !== undefined && { url }),
    ...(typeof authorization === 'string' && { authorization }),
  };
}

/** As the standard writes secrets. */
const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

const objectOf = (row: WebhookRow): ActionObject => ({
  type: 'WEBHOOK',
  id: row.id,
  name: webhookLabel(row),
});

/**
 * @param hasUrl a URL was given: what is shown of it may be the same as before
 * @param hasAuthorization so was the header, which no record shows
 */
function changesOf(
  before: WebhookRow,
  after: WebhookRow,
  hasUrl: boolean,
  hasAuthorization: boolean,
): Changes {
  return {
    ...(hasAuthorization && { authorization: { from: null, to: null } }),
    ...changesBetween(before, after, ['name', 'isEnabled', 'eventTypes']),
    ...(hasUrl && { url: { from: before.shownUrl, to: after.shownUrl } }),
  };
}

const missing = (id: string): ApiError => notFound(`Webhook ${id} does not exist`);

function refuseDisabled({ isEnabled }: WebhookRow): void {
  if (!isEnabled) throw notPossible('The webhook is disabled: enable it with PATCH {"isEnabled": true}');
}
