import { createSecretKey, type KeyObject } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GuardSettings } from '#guards';
import { apiKeyHash } from '#secrets';
import { ApiSettings } from '../api.settings';
import { callerAddressOf } from '../http/caller-address';

/** What the guards take from this application. */
@Injectable()
export class ApiGuardSettings extends GuardSettings {
  readonly jwtKey: KeyObject;
  readonly accessTokenTtlSeconds: number;

  constructor(settings: ApiSettings) {
    super();
    this.jwtKey = createSecretKey(Buffer.from(settings.JWT_SECRET, 'utf8'));
    this.accessTokenTtlSeconds = settings.ACCESS_TOKEN_TTL;
  }

  override hashApiKey(plainText: string): string | null {
    return apiKeyHash(plainText);
  }

  override callerAddressOf(request: object): string | null {
    return request instanceof IncomingMessage ? (callerAddressOf(request)?.text ?? null) : null;
  }
}
