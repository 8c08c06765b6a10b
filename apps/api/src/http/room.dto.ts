import { ApiProperty } from '@nestjs/swagger';
import { type IpVersion, LIMIT_SOURCES, type LimitSource, type Room, roomText } from '#rules';

export class RoomDto {
  @ApiProperty({
    enum: [4, 6],
    nullable: true,
    description: 'The IP version whose rules are counted; null: both',
  })
  family!: IpVersion | null;
  @ApiProperty({ type: 'integer', example: 52, description: 'Rules of other programs included' })
  used!: number;
  @ApiProperty({ type: 'integer', example: 60 }) limit!: number;
  @ApiProperty({
    enum: LIMIT_SOURCES,
    example: 'DEFAULT',
    description:
      "What says so. PROVIDER: the target itself, or the provider's documentation; CONFIG: the resource's priorities; DEFAULT: " +
      'usual, and may have been raised for the account; LEARNED: the provider refused one more',
  })
  limitFrom!: LimitSource;
  @ApiProperty({ description: 'Whether there is more that the credential may not count' })
  isAtLeast!: boolean;
  @ApiProperty({ example: '52 of 60 rules', description: 'For people' }) text!: string;
}

export const toRoom = ({ config: _, learnedAt: __, ...room }: Room): RoomDto => ({
  ...room,
  isAtLeast: room.isAtLeast ?? false,
  text: roomText(room),
});
