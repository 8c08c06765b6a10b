import { gzipSync } from 'node:zlib';
import express from 'express';
import request from 'supertest';
import { answerFailure } from './answer-failure';
import { readJsonBody } from './json-body.interceptor';

const app = express().use((asked, response) => {
  readJsonBody(asked, response).then(
    () => response.json(asked.body),
    (error: unknown) => answerFailure(error, asked, response),
  );
});

const post = (body: string | Buffer, type: string | null = 'application/json'): request.Test => {
  const asked = request(app).post('/api/v1/sessions');
  return (type === null ? asked.unset('Content-Type') : asked.set('Content-Type', type)).send(body);
};

describe('JSON bodies', () => {
  it.each([
    ['an object', '{"a":[1,{"b":null}]}', { a: [1, { b: null }] }],
    ['an empty object', '{}', {}],
    ['an empty body', '', {}],
  ])('are read: %s', async (_, body, expected) => {
    const answer = await post(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(expected);
  });

  it('may name a character set', async () => {
    await expect(post('{"a":"ü"}', 'Application/JSON; charset=utf-8')).resolves.toMatchObject({
      body: { a: 'ü' },
    });
  });

  it('may be missing, with any content type', async () => {
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
  ])('are refused with 400: %s', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: 400, path: '/api/v1/sessions' });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'multipart/form-data'])(
    'are refused with 415 when they are %s',
    async (type) => {
      await expect(post('{}', type)).resolves.toMatchObject({ status: 415 });
    },
  );

  it('are refused with 415 in a character set nobody knows', async () => {
    await expect(post('{}', 'application/json; charset=klingon')).resolves.toMatchObject({ status: 415 });
  });

  it('are refused with 413 over 100 kB, also when they were small before they were unpacked', async () => {
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
