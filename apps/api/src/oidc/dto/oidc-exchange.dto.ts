import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty } from 'class-validator';
import { WORKLOAD_SCOPES } from '#guards';
import { AtMost, id, Optional, Required, string } from '../../http/fields';
import { TEXT_OR_NULL } from '../../http/nullable';
import { MAX_TOKEN_LENGTH } from '../id-token';

export class IdTokenDto {
  @Required(string(IsNotEmpty({ message: 'must not be empty' }), AtMost(MAX_TOKEN_LENGTH)), {
    example: 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl',
    maxLength: MAX_TOKEN_LENGTH,
    description: 'the ID token that the CI system issued to the job',
  })
  idToken!: string;
}

export class ExchangeIdTokenDto extends IdTokenDto {
  @Optional(id(), { nullable: true, description: 'required where the token fits several trusts' })
  trustId?: string | null;
}

export class WorkloadTokenDto {
  @ApiProperty({ example: 'eyJhbGciOiJIUzI1NiIsImtpZCI6Ii4uLiJ9.eyJ0eXAiOiJ3b3JrbG9hZCJ9.c2lnbmF0dXJl' })
  accessToken!: string;
  @ApiProperty({ example: 'Bearer' }) tokenType!: string;
  @ApiProperty({ type: 'integer', example: 900, description: 'seconds, at most 900; there is no refresh' })
  expiresIn!: number;
  @ApiProperty({ enum: WORKLOAD_SCOPES, enumName: 'WorkloadScope', isArray: true }) scopes!: string[];
}

export class TokenCheckDto {
  @ApiProperty({
    example: 'environment',
    description: 'a claim, alg or kid of the header, or token, signature, trust',
  })
  claim!: string;
  @ApiProperty({ example: 'production' }) wanted!: string;
  @ApiProperty({ ...TEXT_OR_NULL, example: 'staging', description: 'null: absent' }) found!: string | null;
  @ApiProperty({ example: false }) ok!: boolean;
}
