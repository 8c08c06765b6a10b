import { Injectable } from '@nestjs/common';
import { NOTICE_SWITCHES, type NoticeSwitch } from '#entities';
import type { Principal } from '#guards';
import { Mailer } from '#mail';
import { Tenants } from '#tenant-store';
import { recordAction, objectNamed } from '../audit/action-records';
import { changesBetween } from '../audit/changes';
import type { Actor } from '../http/actor';
import type { NoticesDto, UpdateNoticesDto } from './dto/notices.dto';

/** What the caller gets mails about. */
@Injectable()
export class OwnNotices {
  constructor(
    private readonly stores: Tenants,
    private readonly mailer: Mailer,
  ) {}

  async find({ organizationId, userId }: Principal): Promise<NoticesDto> {
    return this.noticesOf(await this.stores.users.noticesOff(this.stores.autocommit, organizationId, userId));
  }

  async update(actor: Actor, dto: UpdateNoticesDto): Promise<NoticesDto> {
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
