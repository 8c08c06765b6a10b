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

const post = (body: string | Buffer, type: string | null = 'application/json'): request.Test => {
  const pending = request(app).post('/api/v1/sessions');
  return (type === null ? pending.unset('Content-Type') : pending.set('Content-Type', type)).send(body);
};

describe('readJsonBody', () => {
  it.each([
    ['an object', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['an empty object', '{}', {}],
    ['an empty body', '', {}],
  ])('reads %s', async (_, body, expected) => {
    const answer = await post(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(expected);
  });

  it('accepts a charset in the content type', async () => {
    await expect(post('{"a":"ü"}', 'Application/JSON; charset=utf-8')).resolves.toMatchObject({
      body: { a: 'ü' },
    });
  });

  it('accepts a missing body with any content type', async () => {
    await expect(
      request(app).post('/api/v1/sessions').set('Content-Type', 'text/plain'),
    ).resolves.toMatchObject({
      status: 200,
      body: {},
    });
  });

  it.each([
    ['cut short', '{"a":'],
    ['text', 'hello'],
    ['an array', '[1]'],
    ['a number', '1'],
    ['null', 'null'],
    ['nested too deep', `{"a":${'['.repeat(30)}${']'.repeat(30)}}`],
    ['nested absurdly deep', `{"a":${'['.repeat(40_000)}${']'.repeat(40_000)}}`],
    ['a NUL in a value', String.raw`{"a":"x\u0000"}`],
    ['half of a surrogate pair in a value', String.raw`{"a":"x\ud800y"}`],
    ['half of a surrogate pair in a key', String.raw`{"\udc00":1}`],
    ['a NUL in a key', String.raw`{"a\u0000":1}`],
  ])('refuses with 400: %s', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: 400, path: '/api/v1/sessions' });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'multipart/form-data'])(
    'refuses the content type %s with 415',
    async (type) => {
      await expect(post('{}', type)).resolves.toMatchObject({ status: 415 });
    },
  );

  it('refuses an unknown charset with 415', async () => {
    await expect(post('{}', 'application/json; charset=klingon')).resolves.toMatchObject({ status: 415 });
  });

  it('refuses bodies over 100 kB with 413, also when their compressed size is smaller', async () => {
    const large = JSON.stringify({ a: 'x'.repeat(110_000) });
    await expect(post(large)).resolves.toMatchObject({ status: 413 });
    const packed = request(app)
      .post('/api/v1/sessions')
      .set('Content-Type', 'application/json')
      .set('Content-Encoding', 'gzip');
    packed.write(gzipSync(large));
    await expect(packed).resolves.toMatchObject({ status: 413 });
  });
});
