import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsNotEmpty, IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { WORKLOAD_SCOPES } from '#guards';
import { asId } from '../../http/text-fields';
import { MAX_TOKEN_LENGTH } from '../id-token';

export class IdTokenDto {
  @ApiProperty({
    example: 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl',
    maxLength: MAX_TOKEN_LENGTH,
    description: 'the ID token that the CI system issued to the job',
  })
  @MaxLength(MAX_TOKEN_LENGTH, { message: `must be at most ${MAX_TOKEN_LENGTH} characters` })
  @IsNotEmpty({ message: 'must not be empty' })
  @IsString({ message: 'must be a string' })
  idToken!: string;
}

export class ExchangeIdTokenDto extends IdTokenDto {
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    format: 'uuid',
    description: 'required where the token fits several trusts',
  })
  @asId()
  @IsOptional()
  @IsUUID(undefined, { message: 'must be a UUID' })
  trustId?: string | null;
}

export class WorkloadTokenDto {
  @ApiProperty({ example: 'eyJhbGciOiJIUzI1NiIsImtpZCI6Ii4uLiJ9.eyJ0eXAiOiJ3b3JrbG9hZCJ9.c2lnbmF0dXJl' })
  accessToken!: string;
  @ApiProperty({ example: 'Bearer' }) tokenType!: string;
  @ApiProperty({ type: 'integer', example: 900, description: 'seconds, at most 900; there is no refresh' })
  expiresIn!: number;
  @ApiProperty({ enum: WORKLOAD_SCOPES, isArray: true }) scopes!: string[];
}

export class TokenCheckDto {
  @ApiProperty({
    example: 'environment',
    description: 'a claim, alg or kid of the header, or token, signature, trust',
  })
  claim!: string;
  @ApiProperty({ example: 'production' }) wanted!: string;
  @ApiProperty({ type: String, nullable: true, example: 'staging', description: 'null: absent' })
  found!: string | null;
  @ApiProperty({ example: false }) ok!: boolean;
}
