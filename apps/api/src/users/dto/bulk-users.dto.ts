import { ArrayNotEmpty, ValidateIf } from 'class-validator';
import { MOST_IN_BULK } from '../../http/bulk.dto';
import { ids, line, oneOf, Required } from '../../http/fields';

const USER_ACTIONS = ['RESEND_INVITATION', 'DEACTIVATE', 'ACTIVATE', 'LOCK_DOWN', 'DELETE'] as const;

export class BulkUsersDto {
  @ArrayNotEmpty({ message: 'must name at least one user' })
  @Required(ids(MOST_IN_BULK, 'users'))
  userIds!: string[];

  @Required(oneOf(USER_ACTIONS))
  action!: (typeof USER_ACTIONS)[number];

  @ValidateIf(({ action, reason }: BulkUsersDto) => action === 'LOCK_DOWN' || reason !== undefined)
  @Required(line(500), {
    required: false,
    example: 'A laptop was stolen: INC-12',
    description: 'Required for LOCK_DOWN, as for one user',
  })
  reason?: string;
}
