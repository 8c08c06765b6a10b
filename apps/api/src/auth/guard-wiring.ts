import { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GuardSettings, tokenKeyOf, type TokenKey } from '#guards';
import { apiKeyHash, sessionTokenHash } from '#secrets';
import { ApiSettings } from '../api.settings';
import { callerAddressOf } from '../http/caller-address';

/** The guards' settings, taken from the API's settings. */
@Injectable()
export class ApiGuardSettings extends GuardSettings {
  readonly tokenKeys: readonly [TokenKey, ...TokenKey[]];
  readonly accessTokenTtlSeconds: number;

  constructor(settings: ApiSettings) {
    super();
    this.tokenKeys = [tokenKeyOf(settings.JWT_SECRET), ...settings.JWT_PREVIOUS_SECRETS.map(tokenKeyOf)];
    this.accessTokenTtlSeconds = settings.ACCESS_TOKEN_TTL;
  }

  override hashApiKey(plainText: string): string | null {
    return apiKeyHash(plainText);
  }

  override hashSessionToken(plainText: string): string | null {
    return sessionTokenHash(plainText);
  }

  override callerAddressOf(request: object): string | null {
    return request instanceof IncomingMessage ? (callerAddressOf(request)?.text ?? null) : null;
  }
}
