import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Controller, Get, type OnModuleInit } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '#guards';
import { ApiSettings } from '../api.settings';
import { Operation } from '../docs/operation';
import { DISCOVERY_PATH } from '../http/unprefixed-paths';
import { Uncounted } from '../rate-limit/rate-limit.decorators';
import { DiscoveryDto } from './dto/discovery.dto';

/** Beside `dist`, as in the repository. */
const PACKAGE_FILE = resolve(__dirname, '../../../../../package.json');

@ApiTags('Utility')
@Public()
@Controller(DISCOVERY_PATH)
export class DiscoveryController implements OnModuleInit {
  private version = '';

  constructor(private readonly settings: ApiSettings) {}

  onModuleInit(): void {
    ({ version: this.version } = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')) as { version: string });
  }

  @Get()
  @Uncounted()
  @Operation('Get what a client needs before its first request', { 200: DiscoveryDto })
  discover(): DiscoveryDto {
    const { PUBLIC_URL_IPV4, PUBLIC_URL_IPV6 } = this.settings;
    return { version: this.version, ipv4Url: PUBLIC_URL_IPV4 ?? null, ipv6Url: PUBLIC_URL_IPV6 ?? null };
  }
}
