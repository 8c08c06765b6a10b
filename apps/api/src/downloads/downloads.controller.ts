import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '#guards';
import { Operation } from '../docs/operation';
import { notFound } from '../errors';
import { DOWNLOADS_PATH } from '../http/unprefixed-paths';
import { Downloads, DOWNLOADS_FOLDER } from './downloads';
import { DownloadDto } from './dto/download.dto';

/** Content types, by the end of the file's name. */
const TYPES = {
  '.cjs': 'text/javascript',
  '.mjs': 'text/javascript',
  '.xz': 'application/x-xz',
  '.deb': 'application/vnd.debian.binary-package',
  '': 'text/plain',
} as const;

const typeOf = (name: string): string => Object.entries(TYPES).find(([end]) => name.endsWith(end))![1];

const binary = { schema: { type: 'string', format: 'binary' } };

@ApiTags('Downloads')
@Public()
@Controller(DOWNLOADS_PATH)
export class DownloadsController {
  constructor(private readonly downloads: Downloads) {}

  @Get()
  @Operation('List the files', { 200: [DownloadDto] })
  list(): Promise<DownloadDto[]> {
    return this.downloads.list();
  }

  @Get(':file')
  @Operation('Download a file', { errors: [404] })
  @ApiResponse({
    status: 200,
    description: 'The file',
    content: Object.fromEntries([...new Set(Object.values(TYPES))].map((type) => [type, binary])),
  })
  @ApiResponse({ status: 304, description: 'The file has not changed since the `ETag` in `If-None-Match`' })
  async download(@Param('file') name: string, @Res() response: Response): Promise<void> {
    const file = await this.downloads.find(name);
    if (!file) {
      throw notFound(
        'There is no such file here: /downloads lists those that were built, `npm run build:agent-packages` builds all',
      );
    }
    response.setHeader('ETag', `"${file.sha256}"`);
    // names carry no release: a new build has to reach everybody at once
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('Content-Disposition', `attachment; filename="${file.name}"`);
    response.type(typeOf(file.name));
    await send(response, file.name);
  }
}

/** @throws Error when the file cannot be read; not when the client is gone */
const send = (response: Response, name: string): Promise<void> =>
  new Promise((sent, failed) => {
    response.sendFile(name, { root: DOWNLOADS_FOLDER, cacheControl: false }, (error: Error | undefined) => {
      if (error && !response.destroyed) failed(error);
      else sent();
    });
  });
