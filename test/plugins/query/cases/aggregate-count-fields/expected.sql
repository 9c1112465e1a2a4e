select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select (select row_to_json(x.*) from (select t2.f0 as "id", t2.f1 as "owner") x) as "count" from (select count(t1."id") as f0, count(t1."owner") as f1 from "public"."article" t1) t2) r
-- []
