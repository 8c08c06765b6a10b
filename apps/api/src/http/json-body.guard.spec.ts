import { gzipSync } from 'node:zlib';
import express from 'express';
import request from 'supertest';
import { sendErrorResponse } from './send-error-response';
import { readJsonBody } from './json-body.guard';

const app = express().use((incoming, response) => {
  readJsonBody(incoming, response).then(
    () => response.json(incoming.body),
    (error: unknown) => sendErrorResponse(error, incoming, response),
  );
});

const post = (body: string, type = 'application/json'): request.Test =>
  request(app).post('/api/v1/sessions').set('Content-Type', type).send(body);

describe('readJsonBody', () => {
  it('reads an object in the character set that is named', async () => {
    const answer = await post('{"a":["ü",{"b":null}]}', 'Application/JSON; charset=utf-8');
    expect(answer.body).toEqual({ a: ['ü', { b: null }] });
  });

  it.each(['application/json', 'text/plain'])('takes no body for an empty object, as %s', async (type) => {
    await expect(post('', type)).resolves.toMatchObject({ status: 200, body: {} });
  });

  it.each([
    ['nested too deep', `{"a":${'['.repeat(30)}${']'.repeat(30)}}`],
    ['nested absurdly deep', `{"a":${'['.repeat(40_000)}${']'.repeat(40_000)}}`],
    ['half of a surrogate pair in a key', String.raw`{"\udc00":1}`],
    ['a NUL in a key', String.raw`{"a\u0000":1}`],
  ])('refuses with 400: %s', async (_, body) => {
    await expect(post(body)).resolves.toMatchObject({ status: 400 });
  });

  it.each(['application/jsonx', 'application/json; charset=klingon'])(
    'refuses the content type %s with 415',
    async (type) => {
      await expect(post('{}', type)).resolves.toMatchObject({ status: 415 });
    },
  );

  it('refuses bodies over 100 kB with 413, also when their compressed size is smaller', async () => {
    const packed = post('').set('Content-Encoding', 'gzip');
    packed.write(gzipSync(JSON.stringify({ a: 'x'.repeat(110_000) })));
    await expect(packed).resolves.toMatchObject({ status: 413 });
  });
});
