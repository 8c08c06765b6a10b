import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queryClient, signIn, watchActivity, watchOtherTabs } from './api';
import { router } from './router';
import { keepFocus } from './ui';
import './ui/base.css';

watchActivity();
watchOtherTabs();
keepFocus();
// nothing of one person is shown to the next
signIn.follow(() => {
  if (signIn.get().state === 'out') queryClient.clear();
});

createRoot(document.getElementById('root')!).render(
  <QueryClientProvider client={queryClient}>
    <RouterProvider router={router} />
  </QueryClientProvider>,
);
