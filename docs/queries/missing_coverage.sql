-- Where is coverage missing, and why?
SELECT day, eligible_interactions AS eligible, summarized_interactions AS summarized, coverage,
       waiting_interactions AS waiting, failed_interactions AS failed,
       eligible_interactions - due_interactions AS too_young
FROM marts.coverage_daily
WHERE coverage < 1
ORDER BY day DESC
LIMIT 10;
