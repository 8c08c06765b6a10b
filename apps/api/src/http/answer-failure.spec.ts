import {
  BadRequestException,
  ForbiddenException,
  Logger,
  NotFoundException,
  UnauthorizedException,
} from '@nestjs/common';
import express, { type Express } from 'express';
import request from 'supertest';
import { ScopeError } from '#guards';
import { badRequest, conflict, notFound, tooManyRequests, unprocessable } from '../errors';
import { answerFailure } from './answer-failure';

/** An application whose every path fails with this. */
const failing = (thrown: unknown): Express =>
  express().use((asked, response) => answerFailure(thrown, asked, response));

const coded = (code: string | undefined): Error & { code?: string } =>
  Object.assign(new Error('internal words'), code === undefined ? {} : { code });

const wrapped = (code: string): Error =>
  Object.assign(new Error('query failed'), { driverError: coded(code) });

const fieldsOf = (body: unknown): Record<string, unknown> => ({
  ...(typeof body === 'object' ? body : null),
});

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('error bodies', () => {
  const logged: unknown[] = [];

  beforeEach(() => {
    logged.length = 0;
    jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => logged.push(line));
  });
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['/sessions', badRequest('wrong', { durationHours: 'must be at least 1' })],
    ['/resource-health/events', new UnauthorizedException('who?')],
    ['/organization', notFound('gone', 'IGNORED_HERE')],
    ['/organization/billing', conflict('twice')],
    ['/resourcesX', new ForbiddenException('no')],
    ['/users/1', new Error('boom')],
  ])('are generic on %s', async (path, thrown) => {
    const answer = await request(failing(thrown)).get(`/api/v1${path}?secret=1`);
    const { timestamp, ...rest } = fieldsOf(answer.body);
    expect(timestamp).toMatch(TIMESTAMP);
    expect(Object.keys(rest).filter((key) => key !== 'validationErrors')).toEqual([
      'status',
      'error',
      'message',
      'path',
    ]);
    expect(rest).toMatchObject({ status: answer.status, path: `/api/v1${path}` });
    expect('validationErrors' in rest).toBe(answer.status === 400);
  });

  it.each([
    ['/resources', badRequest('wrong', { name: 'must not be blank' }), 400, 'VALIDATION_ERROR'],
    ['/RESOURCES/1', new BadRequestException('wrong'), 400, 'VALIDATION_ERROR'],
    ['/credentials/1/verify', new UnauthorizedException(), 401, 'UNAUTHORIZED'],
    ['/resources/1', notFound('gone', 'RESOURCE_NOT_FOUND'), 404, 'RESOURCE_NOT_FOUND'],
    ['/resources/1/x', notFound('gone'), 404, 'NOT_FOUND'],
    ['/resources', new Error('boom'), 500, 'INTERNAL_ERROR'],
    ['/resources', coded('ECONNREFUSED'), 503, 'SERVICE_UNAVAILABLE'],
    ['/static-ip-rules', badRequest('wrong'), 400, 'BAD_REQUEST'],
    ['/static-ip-rules', unprocessable('empty'), 422, 'UNPROCESSABLE_ENTITY'],
    ['/organization/settings', new ForbiddenException('no'), 403, 'FORBIDDEN'],
    ['/billing/plans', tooManyRequests('slowly', 7), 429, 'RATE_LIMIT_EXCEEDED'],
    ['/billing', conflict('twice'), 409, 'CONFLICT'],
  ])('carry a code on %s: %p', async (path, thrown, status, code) => {
    const answer = await request(failing(thrown)).get(`/api/v1${path}`);
    expect(answer.status).toBe(status);
    const { error, timestamp, message, ...rest } = fieldsOf(answer.body);
    expect(error).toBe(code);
    expect(timestamp).toMatch(TIMESTAMP);
    expect(typeof message).toBe('string');
    expect(rest).toEqual({});
  });

  it.each(['/sessions', '/resources', '/audit-logs'])(
    'name a missing scope in two fields on %s',
    async (path) => {
      const answer = await request(failing(new ScopeError('audit:read'))).get(`/api/v1${path}`);
      expect(answer.status).toBe(403);
      expect(answer.body).toEqual({
        error: 'Insufficient permissions',
        message: 'API key does not have required scope: audit:read',
      });
    },
  );

  it.each([
    ['refused by the network', coded('ECONNREFUSED')],
    ['shut down under a query', wrapped('57P01')],
    ['out of connections', coded('53300')],
    ['refused at every address', Object.assign(new AggregateError([coded('ECONNREFUSED')]), {})],
    ['cut', new Error('Connection terminated unexpectedly')],
    [
      'cut in a transaction',
      new Error('Database connection provided by a query runner was already released, cannot …'),
    ],
    [
      'cut before a transaction was over',
      new Error('Query runner already released. Cannot run queries anymore.'),
    ],
    ['too slow', new Error('Query read timeout')],
  ])('ask to try again when the database is %s', async (_, thrown) => {
    const answer = await request(failing(thrown)).get('/api/v1/sessions');
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('2');
    expect(answer.body).toMatchObject({ status: 503, error: 'Service Unavailable' });
    expect(logged).toHaveLength(1);
  });

  it('keep what nobody foresaw inside, and out of the log what rides on it', async () => {
    const thrown = Object.assign(new Error('relation "users" does not exist'), {
      query: 'SELECT password_hash FROM users',
      parameters: ['canary-secret'],
      detail: 'canary-secret',
    });
    const answer = await request(failing(thrown)).get('/api/v1/sessions');
    expect(answer.status).toBe(500);
    expect(answer.text).not.toMatch(/relation|SELECT|canary|at .*\.ts/);
    expect(JSON.stringify(logged)).toContain('relation');
    expect(JSON.stringify(logged)).not.toMatch(/canary|SELECT/);
  });

  it.each([['a string'], [null], [undefined]])('answer when %p was thrown', async (thrown) => {
    const answer = await request(failing(thrown)).get('/api/v1/sessions');
    expect(answer.body).toMatchObject({ status: 500, message: 'An unexpected error occurred' });
  });

  it('blame the client for a text no column holds', async () => {
    const answer = await request(failing(wrapped('22021'))).get('/api/v1/sessions');
    expect(answer.status).toBe(400);
    expect(logged).toEqual([]);
  });

  it('say how long to wait, and how to sign in', async () => {
    const waiting = await request(failing(tooManyRequests('slowly', 7))).get('/api/v1/sessions');
    expect(waiting.headers['retry-after']).toBe('7');
    const stranger = await request(failing(new UnauthorizedException('who?'))).get('/api/v1/sessions');
    expect(stranger.headers['www-authenticate']).toBe('Bearer');
  });

  it('replace the framework’s words for an unknown route', async () => {
    const answer = await request(failing(new NotFoundException('Cannot GET /api/v1/x'))).get('/api/v1/x');
    expect(answer.body).toMatchObject({ message: 'There is no such endpoint' });
  });
});
