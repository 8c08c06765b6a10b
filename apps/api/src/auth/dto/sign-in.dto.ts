import { ApiProperty } from '@nestjs/swagger';
import { TIME } from '../../http/fields';
import { TEXT_OR_NULL } from '../../http/nullable';

export class SignInDto {
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ ...TIME, description: 'start of the sign-in' }) createdAt!: Date;
  @ApiProperty({ ...TIME, description: 'when its tokens were last issued' }) lastUsedAt!: Date;
  @ApiProperty({ ...TIME, description: 'when it ends unless it is refreshed' }) expiresAt!: Date;
  @ApiProperty({ ...TEXT_OR_NULL, example: '203.0.113.7', description: 'as last seen' })
  ipAddress!: string | null;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'curl/8.14.1', description: 'as last seen' })
  userAgent!: string | null;
  @ApiProperty({ example: true, description: 'whether it is the sign-in of this request' }) current!: boolean;
}
