import { Injectable } from '@nestjs/common';
import { Trial } from '#entities';
import { Bulk, rowsOf } from '../audit/bulk';
import { invalidField } from '../errors';
import type { BulkOutcome, BulkResultsDto } from '../http/bulk.dto';
import type { Actor } from '../http/actor';
import { LockdownService } from '../lockdown/lockdown.service';
import type { BulkUsersDto } from './dto/bulk-users.dto';
import { NewUsers } from './new-users';
import { UsersService } from './users.service';

const EVENTS = {
  RESEND_INVITATION: 'INVITATION_SENT',
  DEACTIVATE: 'USER_UPDATED',
  ACTIVATE: 'USER_UPDATED',
  LOCK_DOWN: 'USER_LOCKED_DOWN',
  DELETE: 'USER_DELETED',
} as const;

const NO_TRIAL = 'RESEND_INVITATION has no dry run: leave dryRun out';

/** What administrators do to one user, for many. */
@Injectable()
export class BulkUsers {
  constructor(
    private readonly many: Bulk,
    private readonly users: UsersService,
    private readonly newUsers: NewUsers,
    private readonly lockdowns: LockdownService,
  ) {}

  /** @throws ApiError 400 for a dry run of what sends mail */
  act(actor: Actor, { userIds, action, reason = '' }: BulkUsersDto): Promise<BulkResultsDto> {
    // mail cannot be undone
    if (Trial.current && action === 'RESEND_INVITATION') throw invalidField('action', NO_TRIAL);
    const audited = { eventType: EVENTS[action], resourceType: 'USER' };
    return this.many.alone(actor, audited, rowsOf(userIds), async ({ id }): Promise<BulkOutcome> => {
      const { isActive, lockdown } = await this.users.find(actor.principal, id);
      if (action === 'RESEND_INVITATION') await this.newUsers.resendInvitation(actor, id);
      else if (action === 'DELETE') await this.users.delete(actor, id);
      else if (action === 'LOCK_DOWN') {
        if (lockdown !== null) return 'UNCHANGED';
        await this.lockdowns.declare(actor, id, { reason, staticRules: false });
      } else {
        if (isActive === (action === 'ACTIVATE')) return 'UNCHANGED';
        await this.users.update(actor, id, { isActive: action === 'ACTIVATE' });
      }
      return 'DONE';
    });
  }
}
