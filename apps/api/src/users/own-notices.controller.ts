import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { NOTICE_SWITCHES, type NoticeSwitch } from '#entities';
import { AllowedWhileSuspended, CurrentPrincipal, SignedIn, type Principal } from '#guards';
import { Mailer } from '#mail';
import { Tenants } from '#tenant-store';
import { objectNamed, recordAction } from '../audit/action-records';
import { changesBetween } from '../audit/changes';
import { Operation } from '../docs/operation';
import { CurrentActor, type Actor } from '../http/actor';
import { NoticesDto, UpdateNoticesDto } from './dto/notices.dto';

@ApiTags('Users')
@SignedIn()
@Controller('users/me/notices')
export class OwnNoticesController {
  constructor(
    private readonly stores: Tenants,
    private readonly mailer: Mailer,
  ) {}

  @Get()
  @Operation(
    'Get your e-mail notices',
    { 200: NoticesDto },
    'Administrators always get mails about overdue removals, refused credentials and disabled webhooks.',
  )
  async find(@CurrentPrincipal() { organizationId, userId }: Principal): Promise<NoticesDto> {
    return this.noticesOf(await this.stores.users.noticesOff(this.stores.autocommit, organizationId, userId));
  }

  @Patch()
  @AllowedWhileSuspended()
  @Operation('Choose your e-mail notices', { 200: NoticesDto })
  async update(@CurrentActor() actor: Actor, @Body() dto: UpdateNoticesDto): Promise<NoticesDto> {
    const { organizationId, userId: id, email: name } = actor.principal;
    const given = (isOn: boolean): NoticeSwitch[] => NOTICE_SWITCHES.filter((each) => dto[each] === isOn);
    const changes = { on: given(true), off: given(false) };
    return this.stores.transaction(async (tx) => {
      const before = this.noticesOf(await this.stores.users.noticesOff(tx, organizationId, id));
      const after = this.noticesOf(await this.stores.users.switchNotices(tx, organizationId, id, changes));
      const changed = changesBetween(before, after, NOTICE_SWITCHES);
      if (Object.keys(changed).length > 0)
        await recordAction(tx, actor, 'USER_UPDATED', objectNamed('USER', { id, name }), { changed });
      return after;
    });
  }

  private noticesOf(off: readonly NoticeSwitch[]): NoticesDto {
    const switches = NOTICE_SWITCHES.map((each): [NoticeSwitch, boolean] => [each, !off.includes(each)]);
    return {
      ...(Object.fromEntries(switches) as Record<NoticeSwitch, boolean>),
      mailed: this.mailer.delivery === 'inbox',
    };
  }
}
