import { ApiProperty } from '@nestjs/swagger';
import { CLOUD_ACCOUNT_LIST } from '#tenant-store';
import { line, Optional } from '../../http/fields';
import { listQueryOf } from '../../http/list-query.dto';
import { TEXT_OR_NULL, TIME_OR_NULL } from '../../http/nullable';

export class CloudAccountQueryDto extends listQueryOf(CLOUD_ACCOUNT_LIST) {}

export class UpdateCloudAccountDto {
  @Optional(line(100), {
    nullable: true,
    example: 'Payments',
    description: 'What resources of the account show; null: its name in the list of the provider',
  })
  label?: string | null;
}

export class CloudAccountDto {
  @ApiProperty({ example: '123456789012', description: 'As the provider calls it' }) account!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'Payments' }) label!: string | null;
  @ApiProperty({
    ...TEXT_OR_NULL,
    example: 'ACTIVE',
    description: 'In the words of the provider; null: it is not in its last list',
  })
  listedState!: string | null;
  @ApiProperty({ type: 'integer', example: 3, description: 'That use the credential in it' })
  resources!: number;
  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Whether the account accepts the credential; null before the first check',
  })
  isValid!: boolean | null;
  @ApiProperty(TIME_OR_NULL) lastVerifiedAt!: Date | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: null }) verificationError!: string | null;
}
