import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Server } from 'node:http';
import { ApiSettings } from '../api.settings';

/** The service's public URL, for links. */
@Injectable()
export class PublicAddress {
  constructor(
    private readonly settings: ApiSettings,
    private readonly adapter: HttpAdapterHost,
  ) {}

  /** @param path begins with a slash */
  of(path: string): string {
    return `${this.base().replace(/(?<!\/)\/+$/, '')}${path}`;
  }

  /** as browsers send it */
  get origin(): string {
    return new URL(this.of('')).origin;
  }

  private base(): string {
    if (this.settings.PUBLIC_URL !== undefined) return this.settings.PUBLIC_URL;
    const server: Server = this.adapter.httpAdapter.getHttpServer() as Server;
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : this.settings.PORT;
    return `http://localhost:${port}`;
  }
}
