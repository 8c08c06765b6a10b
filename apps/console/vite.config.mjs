import { defineConfig } from 'vite';

const API = process.env['DRAWBRIDGE_URL'] ?? 'http://localhost:3000';

/** Paths that the API serves beside the console. */
const SERVED_BY_API = ['/api', '/docs', '/downloads', '/.well-known'];

export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: '../../dist/apps/console',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    // the policy allows no data: URL but images; small files stay files
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // libraries mark components for frameworks with servers; here everything runs in the browser
      onwarn: (warning, warn) => (warning.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : warn(warning)),
    },
  },
  server: {
    port: 5173,
    proxy: Object.fromEntries(SERVED_BY_API.map((path) => [path, { target: API }])),
  },
});
