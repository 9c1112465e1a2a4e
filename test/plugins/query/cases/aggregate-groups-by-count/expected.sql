select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "books_count", t2.f0 as "count" from (select (select count(*) from "public"."book" t3 where t3."author" = t1."id") as g0, count(*) as f0 from "public"."person" t1 group by 1 order by 1 limit 100) t2) r
-- []
