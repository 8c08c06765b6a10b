import { ApiProperty } from '@nestjs/swagger';

const TIME = { format: 'date-time', example: '2026-01-31T09:30:00.000Z' } as const;

export class SignInDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ ...TIME, description: 'start of the sign-in' }) createdAt!: string;
  @ApiProperty({ ...TIME, description: 'when its tokens were last issued' }) lastUsedAt!: string;
  @ApiProperty({ ...TIME, description: 'when it ends unless it is refreshed' }) expiresAt!: string;
  @ApiProperty({ type: String, nullable: true, example: '203.0.113.7', description: 'as last seen' })
  ipAddress!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'curl/8.14.1', description: 'as last seen' })
  userAgent!: string | null;
  @ApiProperty({ example: true, description: 'whether it is the sign-in of this request' }) current!: boolean;
}
