import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AdminOnly, AllowedWhileSuspended, CurrentPrincipal, type Principal } from '#guards';
import type { WebhookRow } from '#tenant-store';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { ListPage } from '../http/list-page';
import { PathId } from '../http/path-id';
import {
  CreatedWebhookDto,
  CreateWebhookDto,
  UpdateWebhookDto,
  DeliveryQueryDto,
  WebhookDeliveryDto,
  WebhookDto,
  WebhookQueryDto,
} from './dto/webhook.dto';
import { type CreatedWebhook, WebhooksService } from './webhooks.service';

@ApiTags('Webhooks')
@AdminOnly()
@Controller('webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Post()
  @Operation(
    'Create a webhook: audit records are sent to its URL as they are written',
    { 201: CreatedWebhookDto },
    'At most 20. Its secret is returned only once, in this response. The first record it is sent is that of its creation.',
  )
  async create(@CurrentActor() actor: Actor, @Body() dto: CreateWebhookDto): Promise<CreatedWebhookDto> {
    return withSecret(await this.webhooks.create(actor, dto));
  }

  @Get()
  @Operation("List the organization's webhooks", { 200: [WebhookDto] })
  async list(
    @CurrentPrincipal() principal: Principal,
    @Query() query: WebhookQueryDto,
  ): Promise<ListPage<WebhookDto>> {
    return new ListPage(query, await this.webhooks.list(principal, query)).map(shown);
  }

  @Get(':id')
  @Operation('Get a webhook', { 200: WebhookDto, errors: [404] })
  async find(@CurrentPrincipal() principal: Principal, @PathId() id: string): Promise<WebhookDto> {
    return shown(await this.webhooks.find(principal, id));
  }

  @Patch(':id')
  @AllowedWhileSuspended()
  @Operation('Change a webhook: name, url, authorization, eventTypes or isEnabled', {
    200: WebhookDto,
    errors: [404],
  })
  async update(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @Body() dto: UpdateWebhookDto,
  ): Promise<WebhookDto> {
    return shown(await this.webhooks.update(actor, id, dto));
  }

  @Delete(':id')
  @Operation('Delete a webhook and its deliveries', { 204: null, errors: [404] })
  delete(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.webhooks.delete(actor, id);
  }

  @Post(':id/rotate-secret')
  @AllowedWhileSuspended()
  @Operation(
    'Replace the secret; the new one is returned only once, in this response',
    { 200: CreatedWebhookDto, errors: [404] },
    'Both secrets sign for 24 hours.',
  )
  async rotate(@CurrentActor() actor: Actor, @PathId() id: string): Promise<CreatedWebhookDto> {
    return withSecret(await this.webhooks.rotateSecret(actor, id));
  }

  @Post(':id/test')
  @AllowedWhileSuspended()
  @Operation(
    'Send a test: the record WEBHOOK_TESTED, whatever event types the webhook has',
    { 204: null, errors: [404] },
    'Sent in the background, in its turn: its delivery shows the outcome.',
  )
  test(@CurrentActor() actor: Actor, @PathId() id: string): Promise<void> {
    return this.webhooks.test(actor, id);
  }

  @Get(':id/deliveries')
  @Operation(
    'List the deliveries of a webhook within the last 30 days, newest first',
    { 200: [WebhookDeliveryDto], errors: [404] },
    'A record that no attempt was made for is not listed.',
  )
  async deliveries(
    @CurrentPrincipal() principal: Principal,
    @PathId() id: string,
    @Query() query: DeliveryQueryDto,
  ): Promise<ListPage<WebhookDeliveryDto>> {
    return new ListPage(query, await this.webhooks.deliveries(principal, id, query));
  }

  @Post(':id/deliveries/:deliveryId/redeliver')
  @AllowedWhileSuspended()
  @Operation(
    'Send a delivery again, at once and once',
    { 204: null, errors: [404] },
    'Sent in the background. One that is PENDING keeps its further attempts.',
  )
  redeliver(
    @CurrentActor() actor: Actor,
    @PathId() id: string,
    @PathId('deliveryId') deliveryId: string,
  ): Promise<void> {
    return this.webhooks.redeliver(actor, id, deliveryId);
  }
}

const shown = ({ shownUrl, ...row }: WebhookRow): WebhookDto => ({ ...row, url: shownUrl });

const withSecret = ({ row, secret }: CreatedWebhook): CreatedWebhookDto => {
  const { shownUrl, ...others } = row;
  return { ...others, url: shownUrl, secret };
};
