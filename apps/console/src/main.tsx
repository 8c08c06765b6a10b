import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queryClient, signIn, watchActivity, watchNetwork, watchOtherTabs } from './api';
import { router } from './router';
import { keepFocus, restoreZone } from './ui';
import './ui/base.css';

watchActivity();
watchOtherTabs();
watchNetwork();
keepFocus();
restoreZone();
// nothing of one person is shown to the next
signIn.follow(() => {
  if (signIn.get().state === 'out') queryClient.clear();
});

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
